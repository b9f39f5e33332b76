#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge_cases.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two bf16 GEMMs with a bias epilogue (one launched twice) and a fused pointwise kernel.
CasePair GegluPair() {
  CasePair pair = SomePair();
  for (const auto& [name, count] : {std::pair<const char*, int64_t>{"gemm_a", 2}, {"gemm_b", 1}}) {
    KernelRow& row = AddKernel(pair.head, name, {"mm"}, Family::kGemm, {count, count});
    row.op_path = "aten::linear > aten::addmm";
    row.info.in_dtype = "bf16";
    row.info.epilogue = "bias";
    row.info.tensor_core = TensorCore::kYes;
  }
  AddKernel(pair.head, "fused_gelu_mul", {"gelu", "mul"}, Family::kPointwise, {1, 1});
  return pair;
}

KernelSelector Gemms() {
  KernelSelector selector;
  selector.family = {Family::kGemm};
  return selector;
}

Finding Kernels(const CasePair& pair, KernelsCheck check, bool optional = false) {
  Rule rule = SomeRule(std::move(check));
  rule.optional = optional;
  return FindingOf(rule, pair);
}

TEST(JudgeKernels, CountsLaunchesAStep) {
  EXPECT_EQ(Kernels(GegluPair(), {Gemms(), Exactly(3), {}, {}}).status, Status::kPass);
  const Finding finding = Kernels(GegluPair(), {Gemms(), Exactly(2), {}, {}});
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.message,
            "3 launches a step of family gemm (count 2): gemm_a under aten::addmm, gemm_b under "
            "aten::addmm");
  EXPECT_EQ(finding.head, 3.0);
  EXPECT_THAT(finding.kernels, ElementsAre("gemm_a", "gemm_b"));
  EXPECT_THAT(finding.operators, ElementsAre("aten::addmm"));
}

TEST(JudgeKernels, BoundsHoldAtTheirEnds) {
  EXPECT_EQ(Kernels(GegluPair(), {Gemms(), CountBound{3, 3}, {}, {}}).status, Status::kPass);
  EXPECT_EQ(Kernels(GegluPair(), {Gemms(), CountBound{2, {}}, {}, {}}).status, Status::kFail);
  EXPECT_EQ(Kernels(GegluPair(), {Gemms(), CountBound{{}, 4}, {}, {}}).status, Status::kFail);
}

TEST(JudgeKernels, AllHoldsOfEveryKernel) {
  KernelSelector bias;
  bias.epilogue = {"bias*"};
  CasePair pair = GegluPair();
  EXPECT_EQ(Kernels(pair, {Gemms(), {}, bias, {}}).status, Status::kPass);
  pair.head.kernels[1].info.epilogue = "none";
  const Finding finding = Kernels(pair, {Gemms(), {}, bias, {}});
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.message, "1 launch a step without epilogue bias*: gemm_b under aten::addmm");
}

TEST(JudgeKernels, NoneHoldsOfNoKernel) {
  KernelSelector slow;
  slow.tensor_core = false;
  CasePair pair = GegluPair();
  EXPECT_EQ(Kernels(pair, {Gemms(), {}, {}, slow}).status, Status::kPass);
  pair.head.kernels[0].info.tensor_core = TensorCore::kNo;
  const Finding finding = Kernels(pair, {Gemms(), {}, {}, slow});
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.message, "2 launches a step with tensor_core false: gemm_a under aten::addmm");
}

TEST(JudgeKernels, AFieldThatTheNameDoesNotSayIsAnErrorUnlessOptional) {
  KernelSelector slow;
  slow.tensor_core = false;
  CasePair pair = GegluPair();
  pair.head.kernels[0].info.tensor_core = TensorCore::kUnknown;
  const Finding finding = Kernels(pair, {Gemms(), {}, {}, slow});
  EXPECT_EQ(finding.status, Status::kError);
  EXPECT_EQ(finding.message, "tensor_core of gemm_a under aten::addmm is not known");
  EXPECT_EQ(Kernels(pair, {Gemms(), {}, {}, slow}, true).status, Status::kPass);
  pair.head.kernels[1].info.tensor_core = TensorCore::kUnknown;
  EXPECT_EQ(Kernels(pair, {Gemms(), {}, {}, slow}, true).status, Status::kSkipped);
  pair.head.kernels[1].info.tensor_core = TensorCore::kNo;
  EXPECT_EQ(Kernels(pair, {Gemms(), {}, {}, slow}).status, Status::kFail)
      << "one is known to be bad";
}

TEST(JudgeKernels, AmongThatCannotTellIsAnErrorUnlessOptional) {
  KernelSelector bf16 = Gemms();
  bf16.in_dtype = {"bf16"};
  CasePair pair = GegluPair();
  pair.head.kernels[1].info.in_dtype.clear();
  const Finding finding = Kernels(pair, {bf16, Exactly(2), {}, {}});
  EXPECT_EQ(finding.status, Status::kError);
  EXPECT_EQ(finding.message,
            "cannot tell what 'among' selects: in_dtype of gemm_b under aten::addmm is not known");
  EXPECT_EQ(Kernels(pair, {bf16, Exactly(2), {}, {}}, true).status, Status::kPass);
}

TEST(JudgeKernels, ASelectorThatSelectsNothingIsAnErrorUnlessOptional) {
  KernelSelector convolutions;
  convolutions.family = {Family::kConv};
  KernelSelector fast;
  fast.tensor_core = true;
  const Finding finding = Kernels(GegluPair(), {convolutions, {}, fast, {}});
  EXPECT_EQ(finding.status, Status::kError);
  EXPECT_EQ(finding.message, "no kernel of this case is among family conv");
  EXPECT_THAT(finding.next, HasSubstr("perfgate inspect lists the kernels"));
  EXPECT_EQ(Kernels(GegluPair(), {convolutions, {}, fast, {}}, true).status, Status::kSkipped);
  EXPECT_EQ(Kernels(GegluPair(), {convolutions, Exactly(0), {}, {}}).status, Status::kError);
  EXPECT_EQ(Kernels(GegluPair(), {convolutions, Exactly(0), {}, {}}, true).status, Status::kPass);
  EXPECT_EQ(Kernels(GegluPair(), {convolutions, Exactly(1), {}, {}}, true).status, Status::kFail);
}

TEST(JudgeKernels, SelectsByNamePathOperatorsAndLibrary) {
  CasePair pair = GegluPair();
  pair.head.kernels[0].info.library = "cublas";
  pair.head.kernels[0].info.layout = "tn";
  pair.head.kernels[0].info.out_dtype = "fp32";
  pair.head.kernels[0].info.split_k = 4;
  const auto count = [&](auto set) {
    KernelSelector selector;
    set(selector);
    return Kernels(pair, {selector, CountBound{{}, 0}, {}, {}}, true).head;
  };
  EXPECT_EQ(count([](auto& s) { s.name = "gemm_?"; }), 3.0);
  EXPECT_EQ(count([](auto& s) { s.under = "aten::linear"; }), 3.0);
  EXPECT_EQ(count([](auto& s) { s.under = "aten::lin"; }), 0.0);
  EXPECT_EQ(count([](auto& s) { s.ops = {"gelu"}; }), 1.0);
  EXPECT_EQ(count([](auto& s) { s.library = {"cublas", "cudnn"}; }), 2.0);
  EXPECT_EQ(count([](auto& s) { s.layout = {"tn"}; }), 2.0);
  EXPECT_EQ(count([](auto& s) { s.out_dtype = {"fp32"}; }), 2.0);
  EXPECT_EQ(count([](auto& s) { s.split_k = true; }), 2.0);
  EXPECT_EQ(count([](auto& s) { s.split_k = false; }), 2.0);
  EXPECT_EQ(count([](auto&) {}), 4.0);
}

TEST(JudgeKernels, ACountThatDiffersFromStepToStepIsAnErrorUnlessTheLargestIsJudged) {
  CasePair pair = GegluPair();
  pair.head.kernels[0].count_per_step = {2, 3};
  const Finding finding = Kernels(pair, {Gemms(), Exactly(4), {}, {}});
  EXPECT_EQ(finding.status, Status::kError);
  EXPECT_EQ(finding.message, "the number of selected launches differs from step to step");
  Rule rule = SomeRule(KernelsCheck{Gemms(), Exactly(4), {}, {}});
  rule.aggregate_max = true;
  EXPECT_EQ(FindingOf(rule, pair).status, Status::kPass);
}

TEST(JudgeKernels, OfTheOtherDeviceAreNotCounted) {
  CasePair pair = GegluPair();
  AddKernel(pair.head, "aten::mm", {"mm"}, Family::kGemm, {1, 1}).device = "cpu";
  EXPECT_EQ(Kernels(pair, {Gemms(), Exactly(3), {}, {}}).status, Status::kPass);
}

Finding Fusion(const CasePair& pair, FusionCheck check,
               std::map<std::string, std::vector<std::string>> covers = {}, bool optional = false) {
  Rule rule = SomeRule(std::move(check));
  rule.covers = std::move(covers);
  rule.optional = optional;
  return FindingOf(rule, pair);
}

FusionCheck GeluMul() { return {{"gelu", "mul"}, Exactly(1), Exactly(0)}; }

TEST(JudgeFusion, CountsLaunchesThatHoldAllAndThoseThatHoldSome) {
  CasePair pair = GegluPair();
  const Finding passed = Fusion(pair, GeluMul());
  EXPECT_EQ(passed.status, Status::kPass);
  EXPECT_EQ(passed.message, "gelu+mul: 1 fused, 0 apart a step (fused 1, apart 0)");
  AddKernel(pair.head, "gelu_kernel", {"gelu"}, Family::kPointwise, {1, 1});
  const Finding failed = Fusion(pair, GeluMul());
  EXPECT_EQ(failed.status, Status::kFail);
  EXPECT_EQ(failed.message,
            "gelu+mul: 1 fused, 1 apart a step (fused 1, apart 0): gelu_kernel under aten::gelu");
  EXPECT_THAT(failed.kernels, ElementsAre("gelu_kernel"));
}

TEST(JudgeFusion, AFusionThatCameApartFails) {
  CasePair pair = SomePair();
  AddKernel(pair.head, "gelu_kernel", {"gelu"}, Family::kPointwise, {1, 1});
  AddKernel(pair.head, "mul_kernel", {"mul"}, Family::kPointwise, {1, 1});
  EXPECT_EQ(Fusion(pair, GeluMul()).message.substr(0, 25), "gelu+mul: 0 fused, 2 apar");
  EXPECT_EQ(Fusion(pair, GeluMul()).status, Status::kFail);
}

TEST(JudgeFusion, ALargerFusionHoldsTheSmallerOne) {
  CasePair pair = SomePair();
  AddKernel(pair.head, "k", {"add", "gelu", "mul"}, Family::kPointwise, {1, 1});
  EXPECT_EQ(Fusion(pair, GeluMul()).status, Status::kPass);
}

TEST(JudgeFusion, TwoOfThreeAreApart) {
  CasePair pair = SomePair();
  AddKernel(pair.head, "k", {"add", "gelu"}, Family::kPointwise, {1, 1});
  EXPECT_EQ(Fusion(pair, {{"add", "gelu", "mul"}, {}, Exactly(0)}).status, Status::kFail);
}

TEST(JudgeFusion, AnOpaqueKernelNeedsCovers) {
  CasePair pair = GegluPair();
  pair.head.kernels.pop_back();
  AddKernel(pair.head, "geglu_fwd", {}, Family::kOther, {1, 1}).info.opaque = true;
  const Finding finding = Fusion(pair, GeluMul());
  EXPECT_EQ(finding.status, Status::kError);
  EXPECT_EQ(finding.message, "the operators of geglu_fwd are not known");
  EXPECT_EQ(finding.next, "set 'covers', as {\"geglu_fwd\": [gelu, mul]}, in rules/mine.yaml:7:5");
  EXPECT_EQ(Fusion(pair, GeluMul(), {{"geglu_*", {"gelu", "mul"}}}).status, Status::kPass);
}

TEST(JudgeFusion, TheKernelInTheSuggestedCoversIsQuoted) {
  CasePair pair = GegluPair();
  pair.head.kernels.pop_back();
  AddKernel(pair.head, "f<int, 4>(\"a\\\x1b\"): {b}", {}, Family::kOther, {1, 1}).info.opaque =
      true;
  EXPECT_THAT(Fusion(pair, GeluMul()).next,
              HasSubstr(R"(as {"f<int, 4>(\"a\\\x1b\"): {b}": [gelu, mul]},)"));
}

TEST(JudgeFusion, OperatorsThatNoKernelDoesAreAnErrorUnlessOptional) {
  CasePair pair = GegluPair();
  const FusionCheck check = {{"silu", "mm2"}, {}, Exactly(0)};
  EXPECT_EQ(Fusion(pair, check).status, Status::kError);
  EXPECT_EQ(Fusion(pair, check).message, "no kernel of this case does silu or mm2");
  EXPECT_EQ(Fusion(pair, check, {}, true).status, Status::kSkipped);
}

TEST(JudgeFusion, AnUnstableCountIsAnError) {
  CasePair pair = SomePair();
  AddKernel(pair.head, "k", {"gelu", "mul"}, Family::kPointwise, {1, 0});
  EXPECT_EQ(Fusion(pair, GeluMul()).status, Status::kError);
  EXPECT_THAT(Fusion(pair, GeluMul()).message, HasSubstr("differs from step to step"));
}

Change SomeChange(ChangeKind kind, std::string op) {
  Change change;
  change.kind = kind;
  change.operators = {std::move(op)};
  change.text = "one fused kernel came apart";
  return change;
}

TEST(JudgeChanges, CountsTheChangesOfTheseKinds) {
  CasePair pair = GegluPair();
  const Rule rule =
      SomeRule(ChangesCheck{{ChangeKind::kFusionSplit, ChangeKind::kFusionLost}, Exactly(0)});
  EXPECT_EQ(FindingOf(rule, pair).message, "no change of kind fusion_split, fusion_lost");
  EXPECT_EQ(FindingOf(rule, pair).status, Status::kPass);
  pair.diff->changes = {SomeChange(ChangeKind::kSubstituted, "aten::mm"),
                        SomeChange(ChangeKind::kFusionSplit, "aten::gelu")};
  const Finding finding = FindingOf(rule, pair);
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.message, "fusion_split: one fused kernel came apart (allowed: 0)");
  EXPECT_THAT(finding.changes, ElementsAre(1));
  EXPECT_THAT(finding.operators, ElementsAre("aten::gelu"));
  EXPECT_THAT(finding.next, HasSubstr("perfgate baseline accept"));
  const Rule lenient = SomeRule(ChangesCheck{{ChangeKind::kFusionSplit}, CountBound{1, {}}});
  EXPECT_EQ(FindingOf(lenient, pair).status, Status::kPass);
}

TEST(JudgeChanges, KernelsThatDifferFromStepToStepAreAnError) {
  CasePair pair = GegluPair();
  pair.head.kernels[0].count_per_step = {2, 3};
  Rule rule = SomeRule(ChangesCheck{{ChangeKind::kAdded}, Exactly(0)});
  EXPECT_EQ(FindingOf(rule, pair).status, Status::kError);
  EXPECT_EQ(FindingOf(rule, pair).message, "the kernels differ from step to step");
  rule.aggregate_max = true;
  EXPECT_EQ(FindingOf(rule, pair).status, Status::kPass);
}

}  // namespace
}  // namespace perfgate
