#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "declare_files.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RuleFile : public DeclaredFiles {
 protected:
  std::vector<Rule> Some(const std::string& items) { return Rules("version: 1\nrules:\n" + items); }
  Rule One(const std::string& keys) { return Some("  - {id: a, " + keys + "}\n").at(0); }
};

TEST_F(RuleFile, IdsAreNamespacedByTheirFile) {
  const Rule rule = One("metric: kernels, change: {at_most: +0}, why: because");
  EXPECT_EQ(rule.id, "a");
  EXPECT_EQ(rule.full_id, "rules/mine.yaml/a");
  EXPECT_EQ(rule.why, "because");
  EXPECT_EQ(rule.cases, "*");
  EXPECT_EQ(rule.severity, Severity::kError);
  EXPECT_EQ(rule.device, DeviceFilter::kAny);
  EXPECT_FALSE(rule.from_pack);
  EXPECT_EQ(WithoutFolder(ToString(rule.where)), "rules/mine.yaml:3:10");
}

TEST_F(RuleFile, ALimitIsInTheUnitOfItsMetric) {
  const Rule time = One("metric: cold_start, limit: {at_most: 1.5s}");
  EXPECT_EQ(std::get<LimitCheck>(time.check).at_most, 1.5e9);
  EXPECT_EQ(std::get<LimitCheck>(time.check).text, "at most 1.5s");
  const Rule bytes = One("metric: peak_bytes, limit: {at_most: 64MiB, at_least: 0}");
  EXPECT_EQ(std::get<LimitCheck>(bytes.check).at_most, 64.0 * 1024 * 1024);
  EXPECT_EQ(std::get<LimitCheck>(bytes.check).at_least, 0.0);
  const Rule ratio = One("metric: relative_error, limit: {at_most: 1%}");
  EXPECT_EQ(std::get<LimitCheck>(ratio.check).at_most, 0.01);
}

TEST_F(RuleFile, ALimitOnErrorsMayBeByElementType) {
  const Rule rule = One("metric: relative_error, limit: {at_most: {fp32: 1e-5, bf16: 1%}}");
  const LimitCheck& check = std::get<LimitCheck>(rule.check);
  EXPECT_FALSE(check.at_most.has_value());
  EXPECT_EQ(check.by_dtype, (std::vector<DtypeBound>{{"fp32", 1e-5}, {"bf16", 0.01}}));
  EXPECT_EQ(check.text, "at most fp32 1e-5 / bf16 1%");
}

TEST_F(RuleFile, AChangeHasStepsOfBothDirections) {
  const auto check = std::get<ChangeCheck>(
      One("metric: gpu_time, change: {at_most: [+3%, +2us], at_least: -50%}").check);
  ASSERT_EQ(check.at_most.size(), 2u);
  EXPECT_TRUE(check.at_most[0].relative);
  EXPECT_EQ(check.at_most[0].value, 0.03);
  EXPECT_EQ(check.at_most[1].value, 2000.0);
  EXPECT_EQ(check.at_most[1].text, "+2us");
  ASSERT_EQ(check.at_least.size(), 1u);
  EXPECT_EQ(check.at_least[0].value, -0.5);
}

TEST_F(RuleFile, KernelsFusionAndChangesAreRead) {
  const auto kernels = std::get<KernelsCheck>(
      One("kernels: {among: {family: [gemm, gemv], under: 'aten::addmm', in_dtype: bf16}, "
          "count: {at_most: 3}, all: {epilogue: bias}, none: {tensor_core: false}}")
          .check);
  EXPECT_THAT(kernels.among.family, ElementsAre(Family::kGemm, Family::kGemv));
  EXPECT_EQ(kernels.count->at_most, 3);
  EXPECT_FALSE(kernels.count->at_least.has_value());
  EXPECT_THAT(kernels.all->epilogue, ElementsAre("bias"));
  EXPECT_EQ(kernels.none->tensor_core, false);
  const Rule fusion_rule =
      One("fusion: {ops: [mul, gelu], fused: 1, apart: 0}, covers: {k: [gelu]}");
  const auto fusion = std::get<FusionCheck>(fusion_rule.check);
  EXPECT_THAT(fusion.ops, ElementsAre("gelu", "mul"));
  EXPECT_EQ(fusion.fused->at_least, 1);
  EXPECT_EQ(fusion.fused->at_most, 1);
  EXPECT_THAT(fusion_rule.covers.at("k"), ElementsAre("gelu"));
  const auto changes =
      std::get<ChangesCheck>(One("changes: {kinds: [fusion_split, added], count: 0}").check);
  EXPECT_THAT(changes.kinds, ElementsAre(ChangeKind::kFusionSplit, ChangeKind::kAdded));
}

TEST_F(RuleFile, AWaiverIsRead) {
  const Rule rule =
      One("metric: kernels, change: {at_most: +0}, "
          "waive: {until: 2028-02-29, reason: known, cases: 'g*', up_to: +2}");
  ASSERT_TRUE(rule.waive.has_value());
  EXPECT_EQ(rule.waive->until, "2028-02-29");
  EXPECT_EQ(rule.waive->reason, "known");
  EXPECT_EQ(rule.waive->cases, "g*");
  EXPECT_EQ(rule.waive->up_to->value, 2.0);
}

TEST_F(RuleFile, ModifiersAreRead) {
  const Rule rule =
      One("metric: latency.p50, regression: {tolerance: 5%}, require_paired: true, severity: warn, "
          "device: cuda, optional: true");
  EXPECT_EQ(std::get<RegressionCheck>(rule.check).tolerance, 0.05);
  EXPECT_TRUE(rule.require_paired);
  EXPECT_EQ(rule.severity, Severity::kWarn);
  EXPECT_EQ(rule.device, DeviceFilter::kCuda);
  EXPECT_TRUE(rule.optional);
  EXPECT_TRUE(One("metric: kernels, limit: {at_most: 3}, aggregate: max").aggregate_max);
}

TEST_F(RuleFile, AHistoryIsReadWithItsDefaults) {
  const Rule plain = One("metric: latency.p50, history: {tolerance: 5%}");
  const auto check = std::get<HistoryCheck>(plain.check);
  EXPECT_EQ(check.tolerance, 0.05);
  EXPECT_EQ(check.sessions, 20);
  EXPECT_EQ(check.branch, "main");
  EXPECT_EQ(check.since, "");
  EXPECT_FALSE(plain.require_history);
  const Rule full =
      One("metric: gpu_time, history: {tolerance: 2%, sessions: 40, branch: trunk, "
          "since: 20270131T101500Z-1a2b3c}, require_history: true");
  const auto all = std::get<HistoryCheck>(full.check);
  EXPECT_EQ(all.sessions, 40);
  EXPECT_EQ(all.branch, "trunk");
  EXPECT_EQ(all.since, "20270131T101500Z-1a2b3c");
  EXPECT_TRUE(full.require_history);
  EXPECT_EQ(std::get<HistoryCheck>(
                One("metric: gpu_time, history: {tolerance: 2%, since: 1234567}").check)
                .since,
            "1234567");
}

struct Mistake {
  const char* name;
  const char* rule;  // keys after `id: a`
  const char* line;
};

class RuleMistake : public RuleFile, public testing::WithParamInterface<Mistake> {};

TEST_P(RuleMistake, IsSaidWithWhatIsNeeded) {
  const std::string said =
      RuleMistakes("version: 1\nrules:\n  - id: a\n    " + std::string(GetParam().rule));
  EXPECT_THAT(said, HasSubstr(GetParam().line));
}

constexpr Mistake kRuleMistakes[] = {
    {"percent_of_a_count", "metric: kernels\n    limit: {at_most: 5%}\n",
     "5:22: rules[0].limit.at_most: must be a whole number without a unit, as 3: metric kernels is "
     "in "
     "count, found '5%'"},
    {"bare_number_for_a_duration", "metric: gpu_time\n    limit: {at_most: 3}\n",
     "rules[0].limit.at_most: must be a duration with its unit, as 200us or 5ms: metric gpu_time "
     "is in "
     "ns, found '3'"},
    {"half_a_kernel", "metric: kernels\n    limit: {at_most: 2.5}\n",
     "must be a whole number without a unit, as 3"},
    {"one_of_two_metrics_has_another_unit",
     "metric: [kernels, gpu_time]\n    limit: {at_most: 3}\n",
     "metric gpu_time is in ns, found '3'"},
    {"negative_limit", "metric: kernels\n    limit: {at_most: -1}\n",
     "must be 0 or more, found '-1'"},
    {"nan_limit", "metric: relative_error\n    limit: {at_most: .nan}\n", "found '.nan'"},
    {"limit_of_a_type_that_none_writes",
     "metric: relative_error\n    limit: {at_most: {b16: 1%}}\n",
     "unknown key 'b16'; did you mean 'bf16'?"},
    {"limit_by_type_of_a_count", "metric: nan_count\n    limit: {at_most: {bf16: 0}}\n",
     "bounds by element type are for relative_error and max_abs_error; nan_count has one bound"},
    {"limit_by_no_type", "metric: relative_error\n    limit: {at_most: {}}\n",
     "the mapping is empty"},
    {"limit_by_type_from_below", "metric: relative_error\n    limit: {at_least: {bf16: 1%}}\n",
     "rules[0].limit.at_least: must be"},
    {"negative_limit_by_type", "metric: max_abs_error\n    limit: {at_most: {bf16: -1}}\n",
     "rules[0].limit.at_most.bf16: must be 0 or more"},
    {"limit_of_nothing", "metric: kernels\n    limit: {}\n",
     "rules[0].limit: needs 'at_most' or 'at_least'"},
    {"impossible_limit", "metric: kernels\n    limit: {at_most: 1, at_least: 2}\n",
     "can never hold: 'at_least' is above 'at_most'"},
    {"change_without_sign", "metric: kernels\n    change: {at_most: 2}\n",
     "rules[0].change.at_most: must be a step with its sign, as +3%, +0 or, in the metric's unit, "
     "+2us "
     "or +1, found '2'"},
    {"change_down_with_plus", "metric: kernels\n    change: {at_least: +2}\n",
     "must be a step with its sign, as -3%, -0"},
    {"change_in_the_wrong_unit", "metric: kernels\n    change: {at_most: +2us}\n",
     "must be a percentage or a whole number without a unit, as 3: metric kernels is in count"},
    {"change_on_a_noisy_metric", "metric: latency.p50\n    change: {at_most: +5%}\n",
     "rules[0].change: metric latency.p50 is noisy: one run against a stored one says nothing; "
     "write "
     "regression: {tolerance: 5%}"},
    {"regression_on_an_exact_metric", "metric: kernels\n    regression: {tolerance: 5%}\n",
     "rules[0].regression: metric kernels is exact and needs no statistics"},
    {"regression_on_a_count", "metric: instructions\n    regression: {tolerance: 5%}\n",
     "rules[0].regression: metric instructions is a count that hardly varies and needs no "
     "statistics; write change: {at_most: +0.5%}"},
    {"regression_without_percent", "metric: latency.p50\n    regression: {tolerance: 0.05}\n",
     "must be a percentage above 0 and at most 1000%, as 5%, found '0.05'"},
    {"unknown_metric", "metric: latency\n    limit: {at_most: 3ms}\n",
     "4:13: rules[0].metric: 'latency' is not known"},
    {"metric_missing", "limit: {at_most: 3}\n", "key 'metric' is missing; 'limit' is on metrics"},
    {"metric_of_a_fusion", "metric: kernels\n    fusion: {ops: [gelu, mul], apart: 0}\n",
     "4:13: rules[0].metric: has no meaning for 'fusion'; it is for limit, change, regression and "
     "history"},
    {"no_check", "metric: kernels\n", "has no check; needs one of limit, change, regression"},
    {"two_checks", "metric: kernels\n    limit: {at_most: 3}\n    change: {at_most: +0}\n",
     "has several checks (limit, change); a rule has one"},
    {"fusion_of_one", "fusion: {ops: [gelu], apart: 0}\n",
     "needs at least two operators to be fused"},
    {"fusion_of_full_names", "fusion: {ops: ['aten::gelu', mul], apart: 0}\n",
     "'aten::gelu' must be an operator's short name; write 'gelu'"},
    {"fusion_of_nothing", "fusion: {ops: [gelu, mul]}\n", "needs 'fused' or 'apart'"},
    {"kernels_without_statement", "kernels: {among: {family: gemm}}\n",
     "needs 'count', 'all' or 'none'"},
    {"empty_selector", "kernels: {all: {}}\n", "rules[0].kernels.all: the selector is empty"},
    {"unknown_family", "kernels: {among: {family: gem}, count: 1}\n",
     "rules[0].kernels.among.family: 'gem' is not known; did you mean 'gemm'?"},
    {"negative_count", "kernels: {count: -1}\n", "must be a whole number from 0 to"},
    {"count_as_text", "kernels: {count: [1]}\n",
     "must be a whole number, or {at_most: N, at_least: N}, found a list"},
    {"unknown_kind", "changes: {kinds: [fusion_splt], count: 0}\n",
     "'fusion_splt' is not known; did you mean 'fusion_split'?"},
    {"no_such_day",
     "changes: {kinds: added, count: 0}\n    waive: {until: 2027-02-29, reason: x}\n",
     "rules[0].waive.until: must be a date, the last day it holds, as 2027-01-31, found "
     "'2027-02-29'"},
    {"waiver_without_reason", "changes: {kinds: added, count: 0}\n    waive: {until: 2027-02-28}\n",
     "rules[0].waive: key 'reason' is missing"},
    {"up_to_of_a_fusion",
     "fusion: {ops: [gelu, mul], apart: 0}\n    waive: {until: 2027-02-28, reason: x, up_to: +1}\n",
     "rules[0].waive.up_to: is for 'limit' and 'change' rules only"},
    {"mistyped_severity", "changes: {kinds: added, count: 0}\n    severity: false\n",
     "rules[0].severity: must be one of off, warn, error, found 'false'"},
    {"history_of_too_few_sessions",
     "metric: latency.p50\n    history: {tolerance: 5%, sessions: 10}\n",
     "rules[0].history.sessions: must be a whole number from 20 to 1000, found '10'"},
    {"history_without_a_tolerance", "metric: latency.p50\n    history: {sessions: 20}\n",
     "rules[0].history: key 'tolerance' is missing"},
    {"history_since_a_branch", "metric: latency.p50\n    history: {tolerance: 5%, since: v1.0}\n",
     "rules[0].history.since: must be a commit, with 7 of its hex digits or more, or a run, as "
     "20270131T101500Z-1a2b3c, found 'v1.0'"},
    {"history_with_a_mistyped_key",
     "metric: latency.p50\n    history: {tolerance: 5%, session: 20}\n",
     "did you mean 'sessions'?"},
    {"history_of_an_exact_metric", "metric: kernels\n    history: {tolerance: 5%}\n",
     "metric kernels is exact and needs no statistics"},
    {"require_history_of_a_regression",
     "metric: latency.p50\n    regression: {tolerance: 5%}\n    require_history: true\n",
     "rules[0].require_history: has no meaning for 'regression'; it is for history"},
    {"require_paired_of_a_limit",
     "metric: kernels\n    limit: {at_most: 1}\n    require_paired: true\n",
     "rules[0].require_paired: has no meaning for 'limit'; it is for regression"},
    {"mistyped_key", "metrics: kernels\n    limit: {at_most: 1}\n",
     "4:5: rules[0]: unknown key 'metrics'; did you mean 'metric'?"},
};

INSTANTIATE_TEST_SUITE_P(All, RuleMistake, testing::ValuesIn(kRuleMistakes),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_F(RuleFile, ADuplicateIdIsAMistake) {
  EXPECT_EQ(RuleMistakes("version: 1\nrules:\n"
                         "  - {id: a, metric: kernels, limit: {at_most: 1}}\n"
                         "  - {id: a, metric: kernels, limit: {at_most: 1}}\n"),
            "rules/mine.yaml:4:10: rules[1].id: rule 'a' is there twice");
}

TEST_F(RuleFile, AnIdMayNotHaveASlash) {
  EXPECT_THAT(
      RuleMistakes("version: 1\nrules:\n  - {id: a/b, metric: kernels, limit: {at_most: 1}}\n"),
      HasSubstr("3:10: rules[0].id: 'a/b' must be letters, digits"));
}

TEST_F(RuleFile, AnOverrideOfAnUnknownRuleIsAMistake) {
  EXPECT_THAT(
      RuleMistakes("version: 1\nrules:\n  - {override: 'perfgate:nothing/x', severity: warn}\n"),
      HasSubstr("3:16: rules[0].override: no pack has a rule 'perfgate:nothing/x'"));
}

TEST_F(RuleFile, AnOverrideOfOnesOwnRuleIsAMistake) {
  EXPECT_THAT(RuleMistakes("version: 1\nrules:\n  - {id: a, metric: kernels, limit: {at_most: 1}}\n"
                           "  - {override: rules/mine.yaml/a, severity: warn}\n"),
              HasSubstr("'rules/mine.yaml/a' is no pack's rule; change it where it stands"));
}

// The first rule of the first pack, whatever it is.
class PackOverride : public RuleFile {
 protected:
  void SetUp() override {
    if (PackNames().empty()) GTEST_SKIP() << "built without packs";
    pack_ = PackNames().front();
    target_ = LoadRules({pack_}, ".").front();
  }
  std::vector<Rule> With(const std::string& items) {
    Write("rules/mine.yaml", "version: 1\nrules:\n" + items);
    return LoadRules({"rules/mine.yaml", pack_}, folder_);
  }
  std::string pack_;
  Rule target_;
};

TEST_F(PackOverride, ChangesTheKeysThatItNames) {
  const Rule rule =
      With("  - {override: '" + target_.full_id + "', severity: warn, why: mine}\n").at(0);
  EXPECT_EQ(rule.full_id, target_.full_id);
  EXPECT_EQ(rule.severity, Severity::kWarn);
  EXPECT_EQ(rule.why, "mine");
  EXPECT_EQ(rule.check.index(), target_.check.index());
  EXPECT_TRUE(rule.from_pack);
  EXPECT_EQ(WithoutFolder(rule.where.file), "rules/mine.yaml") << "where it can be edited";
}

TEST_F(PackOverride, IsAMistakeTheSecondTime) {
  const std::string item = "  - {override: '" + target_.full_id + "', severity: warn}\n";
  try {
    With(item + item);
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is overridden already in"));
  }
}

TEST_F(PackOverride, IsAMistakeIfThePackIsNotListed) {
  EXPECT_THAT(RuleMistakes("version: 1\nrules:\n  - {override: '" + target_.full_id +
                           "', severity: warn}\n"),
              HasSubstr("is in pack " + pack_ + ", which the suite's 'rules' do not list"));
}

TEST_F(PackOverride, NamesTheNearestRule) {
  const std::string wrong = target_.full_id + "x";
  try {
    With("  - {override: '" + wrong + "', severity: warn}\n");
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean '" + target_.full_id + "'?"));
  }
}

// A rule file may be named by a pull request, its messages stand in a public log.
TEST_F(RuleFile, AFileOfSomethingElseIsNotPrinted) {
  EXPECT_EQ(RuleMistakes("root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon\n"),
            "rules/mine.yaml:1:1: must be a mapping, found a text");
  EXPECT_THAT(RuleMistakes("BEGIN OF A KEY " + std::string(60, 'k') + ": x\n"),
              HasSubstr("unknown key 'BEGIN OF A KEY " + std::string(25, 'k') + "...'"));
}

}  // namespace
}  // namespace perfgate
