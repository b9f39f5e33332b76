// The matrix of a workload: its combinations, the names of its cases, and the replacing of `{key}`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "declare/reader.h"

namespace perfgate {

using Params = std::map<std::string, std::string>;

// The most cases of one suite: judging and reporting stay usable, and a typing error in a matrix
// cannot ask for millions.
inline constexpr int64_t kMostCases = 10'000;

// All combinations in declared order, the last key varying fastest. One empty combination without a
// matrix (`matrix` null); none after a problem.
std::vector<Params> ReadMatrix(const Reader* matrix);

// "geglu[mode=aoti,tokens=64]": keys sorted; the bare name without parameters.
std::string CaseName(std::string_view workload, const Params& params);

// Says every `{key}` below `value` that is no key of `known`, and notes in `used` those that are.
// `{{key}}` stands for a literal `{key}`; other braces are left alone.
void CheckPlaceholders(const Reader& value, const Params& known, std::set<std::string>& used);
bool HasPlaceholder(const Yaml& value);

// `value` with its placeholders replaced. A scalar that is one placeholder takes the type that the
// matrix value has.
Yaml Substitute(const Yaml& value, const Params& params);

}  // namespace perfgate
