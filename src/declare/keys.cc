#include "declare/keys.h"

namespace perfgate {

std::vector<std::string> Names(KeySet keys) {
  std::vector<std::string> names;
  for (const KeyName& key : keys) names.emplace_back(key.name);
  return names;
}

std::vector<std::pair<std::string_view, KeySet>> SuiteKeySets() {
  return {{"suite", kSuiteKeys}, {"defaults", kDefaultsKeys}, {"warmup", kWarmupKeys},
          {"timed", kTimedKeys}, {"traced", kTracedKeys},     {"workload", kWorkloadKeys},
          {"steps", kStepsKeys}, {"window", kWindowKeys},     {"input", kInputKeys}};
}

std::vector<std::pair<std::string_view, KeySet>> RuleKeySets() {
  return {{"rules", kRuleFileKeys},     {"rule", kRuleKeys},       {"limit", kLimitKeys},
          {"dtype_bounds", kDtypeKeys}, {"change", kChangeKeys},   {"regression", kRegressionKeys},
          {"history", kHistoryKeys},    {"kernels", kKernelsKeys}, {"selector", kSelectorKeys},
          {"count", kCountKeys},        {"fusion", kFusionKeys},   {"changes", kChangesKeys},
          {"waive", kWaiveKeys}};
}

}  // namespace perfgate
