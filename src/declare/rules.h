// Rule files and packs: reading, namespaces, overrides.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "declare/declare.h"
#include "declare/reader.h"

namespace perfgate {

// Marks a pack of perfgate among the sources of rules.
inline constexpr std::string_view kPackPrefix = "perfgate:";

// One source as it is written in the suite; `at` is where, for the message of an unknown one.
struct RuleSource {
  std::string name;
  std::optional<Reader> at;
};

// Rules of all sources in order, overrides applied. If `case_names` is given, every glob of a rule
// that is not `optional` must match one of them.
std::vector<Rule> ReadRules(const std::vector<RuleSource>& sources,
                            const std::filesystem::path& folder,
                            const std::vector<std::string>* case_names, const LoadOptions& options,
                            Problems& problems);

}  // namespace perfgate
