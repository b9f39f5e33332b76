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

struct KeyName {
  std::string_view name;
  bool required = false;
};
using KeySet = std::span<const KeyName>;

// Suite file.
inline constexpr KeyName kSuiteKeys[] = {
    {"version", true},   {"suite"},       {"defaults"},  {"no_baseline"},
    {"workloads", true}, {"rules", true}, {"baselines"}, {"budget"},
};
inline constexpr KeyName kDefaultsKeys[] = {
    {"device"}, {"threads"}, {"warmup"}, {"timed"}, {"traced"}, {"timeout"},
};
inline constexpr KeyName kWarmupKeys[] = {{"iterations"}, {"until_steady"}, {"at_most"}};
inline constexpr KeyName kTimedKeys[] = {{"iterations", true}};
inline constexpr KeyName kTracedKeys[] = {{"iterations"}, {"processes"}};
inline constexpr KeyName kWorkloadKeys[] = {
    {"name", true}, {"was"},      {"torch"},     {"command"}, {"trace"},   {"matrix"},
    {"prepare"},    {"profiler"}, {"reference"}, {"device"},  {"threads"}, {"warmup"},
    {"timed"},      {"traced"},   {"timeout"},   {"steps"},   {"window"},
};
inline constexpr KeyName kStepsKeys[] = {{"nvtx", true}};
inline constexpr KeyName kWindowKeys[] = {{"after"}, {"for"}, {"kernels"}};
inline constexpr KeyName kInputKeys[] = {{"shape", true}, {"dtype", true}};

// Rule files.
inline constexpr KeyName kRuleFileKeys[] = {{"version", true}, {"rules", true}};
inline constexpr KeyName kRuleKeys[] = {
    {"id"},       {"override"},  {"why"},    {"cases"},          {"device"},          {"severity"},
    {"optional"}, {"aggregate"}, {"covers"}, {"require_paired"}, {"require_history"}, {"waive"},
    {"metric"},   {"limit"},     {"change"}, {"regression"},     {"history"},         {"kernels"},
    {"fusion"},   {"changes"},
};
inline constexpr KeyName kLimitKeys[] = {{"at_most"}, {"at_least"}};
// Element types of outputs, as python/perfgate.py and perfgate-torch write them to samples.json.
// "integer": all of these integers, and bool, that are not named.
inline constexpr KeyName kDtypeKeys[] = {
    {"fp64"},  {"fp32"},  {"bf16"}, {"fp16"},  {"fp8_e4m3"}, {"fp8_e5m2"}, {"int64"},
    {"int32"}, {"int16"}, {"int8"}, {"uint8"}, {"bool"},     {"integer"},
};
inline constexpr KeyName kChangeKeys[] = {{"at_most"}, {"at_least"}};
inline constexpr KeyName kRegressionKeys[] = {{"tolerance", true}};
inline constexpr KeyName kHistoryKeys[] = {
    {"tolerance", true},
    {"sessions"},
    {"branch"},
    {"since"},
};
inline constexpr KeyName kKernelsKeys[] = {{"among"}, {"count"}, {"all"}, {"none"}};
inline constexpr KeyName kSelectorKeys[] = {
    {"family"},   {"name"},   {"under"}, {"in_dtype"},    {"out_dtype"}, {"library"},
    {"epilogue"}, {"layout"}, {"ops"},   {"tensor_core"}, {"split_k"},
};
inline constexpr KeyName kCountKeys[] = {{"at_most"}, {"at_least"}};
inline constexpr KeyName kFusionKeys[] = {{"ops", true}, {"fused"}, {"apart"}};
inline constexpr KeyName kChangesKeys[] = {{"kinds", true}, {"count", true}, {"narrower"}};
inline constexpr KeyName kWaiveKeys[] = {
    {"until", true}, {"reason", true}, {"owner"}, {"cases"}, {"up_to"},
};

std::vector<std::string> Names(KeySet keys);

// All sets above by their name in the schemas' `$defs` ("suite" and "rules" are the files).
std::vector<std::pair<std::string_view, KeySet>> SuiteKeySets();
std::vector<std::pair<std::string_view, KeySet>> RuleKeySets();

}  // namespace perfgate
