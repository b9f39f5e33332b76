// Every key that a suite or a rule file may have: what the readers accept, what "did you mean"
// suggests, and what the JSON Schemas in docs/schema must list (a test compares them).
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perfgate {

struct Key {
  std::string_view name;
  bool required = false;
};
using KeySet = std::span<const Key>;

// Suite file.
inline constexpr Key kSuiteKeys[] = {
    {"version", true},   {"suite"},       {"defaults"},  {"no_baseline"},
    {"workloads", true}, {"rules", true}, {"baselines"},
};
inline constexpr Key kDefaultsKeys[] = {
    {"device"}, {"threads"}, {"warmup"}, {"timed"}, {"traced"}, {"timeout"},
};
inline constexpr Key kWarmupKeys[] = {{"iterations"}, {"until_steady"}, {"at_most"}};
inline constexpr Key kTimedKeys[] = {{"iterations", true}};
inline constexpr Key kTracedKeys[] = {{"iterations"}, {"processes"}};
inline constexpr Key kWorkloadKeys[] = {
    {"name", true}, {"was"},     {"torch"},    {"command"},   {"trace"},
    {"matrix"},     {"prepare"}, {"profiler"}, {"reference"}, {"device"},
    {"threads"},    {"warmup"},  {"timed"},    {"traced"},    {"timeout"},
};
inline constexpr Key kInputKeys[] = {{"shape", true}, {"dtype", true}};

// Rule files.
inline constexpr Key kRuleFileKeys[] = {{"version", true}, {"rules", true}};
inline constexpr Key kRuleKeys[] = {
    {"id"},       {"override"},  {"why"},        {"cases"},          {"device"}, {"severity"},
    {"optional"}, {"aggregate"}, {"covers"},     {"require_paired"}, {"waive"},  {"metric"},
    {"limit"},    {"change"},    {"regression"}, {"kernels"},        {"fusion"}, {"changes"},
};
inline constexpr Key kLimitKeys[] = {{"at_most"}, {"at_least"}};
inline constexpr Key kChangeKeys[] = {{"at_most"}, {"at_least"}};
inline constexpr Key kRegressionKeys[] = {{"tolerance", true}};
inline constexpr Key kKernelsKeys[] = {{"among"}, {"count"}, {"all"}, {"none"}};
inline constexpr Key kSelectorKeys[] = {
    {"family"},   {"name"},   {"under"}, {"in_dtype"},    {"out_dtype"}, {"library"},
    {"epilogue"}, {"layout"}, {"ops"},   {"tensor_core"}, {"split_k"},
};
inline constexpr Key kCountKeys[] = {{"at_most"}, {"at_least"}};
inline constexpr Key kFusionKeys[] = {{"ops", true}, {"fused"}, {"apart"}};
inline constexpr Key kChangesKeys[] = {{"kinds", true}, {"count", true}, {"narrower"}};
inline constexpr Key kWaiveKeys[] = {{"until", true}, {"reason", true}, {"cases"}, {"up_to"}};

std::vector<std::string> Names(KeySet keys);

// All sets above by their name in the schemas' `$defs` ("suite" and "rules" are the files).
std::vector<std::pair<std::string_view, KeySet>> SuiteKeySets();
std::vector<std::pair<std::string_view, KeySet>> RuleKeySets();

}  // namespace perfgate
