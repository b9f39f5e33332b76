// Which operator, module, annotation and forward operator a kernel belongs to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evidence/evidence.h"
#include "evidence_traces.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

const std::filesystem::path kTraces = std::filesystem::path(PERFGATE_TEST_DATA) / "traces";

auto Place(const std::string& place, int64_t count) {
  return AllOf(Field(&PlaceUse::place, place), Field(&PlaceUse::count, count));
}

TraceBuilder& Module(TraceBuilder& builder, const std::string& name, int64_t start_ns,
                     int64_t duration_ns) {
  return builder.Host("python_function", "nn.Module: " + name, start_ns, duration_ns);
}

// One step, in it a launch under a backward operator of sequence number 7 on a thread of its own,
// and the forward operators of that number.
TraceBuilder Training() {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000);
  const std::string forward = R"("Sequence number": 7, "Fwd thread id": 0)";
  const std::string backward = R"("Sequence number": 7, "Fwd thread id": 1)";
  builder.Host("cpu_op", "aten::linear", 10'000, 9000, forward)
      .Host("cpu_op", "aten::addmm", 12'000, 5000, forward)
      .Launch("gemm", 13'000, 1)
      .Host("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 50'000, 20'000,
            backward, 2)
      .Host("cpu_op", "AddmmBackward0", 51'000, 18'000, backward, 2)
      .Host("cpu_op", "aten::mm", 52'000, 9000, "", 2)
      .Host("cuda_runtime", "cudaLaunchKernel", 53'000, 500, R"("correlation": 2)", 2)
      .Kernel("gemm_backward", 55'000, 2000, 2);
  return builder;
}

TEST(Modules, AreThoseOfThePythonStackAroundTheLaunch) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000);
  Module(builder, "Net_0", 1000, 90'000);
  Module(builder, "Linear_0", 2000, 20'000).Op("aten::linear", 9000, 5000);
  builder.Launch("gemm", 10'000, 1);
  Module(builder, "Linear_1", 30'000, 20'000).Op("aten::linear", 39'000, 5000);
  builder.Launch("gemm", 40'000, 2);
  builder.Op("aten::relu", 60'000, 5000).Launch("relu", 61'000, 3);
  const Evidence evidence = Extracted(builder);
  ASSERT_THAT(evidence.kernels, SizeIs(2));
  // One row: the module does not tell rows apart.
  EXPECT_EQ(evidence.kernels[0].op_path, "aten::linear");
  EXPECT_THAT(evidence.kernels[0].modules,
              ElementsAre(Place("Net_0 > Linear_0", 1), Place("Net_0 > Linear_1", 1)));
  EXPECT_EQ(PlaceText(evidence.kernels[0].modules), "Net > Linear, 2 of them");
  EXPECT_THAT(evidence.kernels[1].modules, ElementsAre(Place("Net_0", 1)));
}

TEST(Modules, ComeFromTheHierarchyWhereThereIsNoStack) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Host("cpu_op", "aten::linear", 9000, 9000, R"x("Module Hierarchy": "TOP(Net).fc1(Linear)")x")
      .Op("aten::addmm", 9500, 8000)
      .Launch("gemm", 10'000, 1);
  EXPECT_THAT(Extracted(builder).kernels[0].modules, ElementsAre(Place("TOP(Net).fc1(Linear)", 1)));
}

TEST(Modules, OfAnotherThreadAreNotAround) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Host("python_function", "nn.Module: Net_0", 1000, 90'000, "", 2)
      .Launch("gemm", 10'000, 1);
  EXPECT_THAT(Extracted(builder).kernels[0].modules, IsEmpty());
}

TEST(Annotations, AreThoseAroundTheCallWithoutTheSteps) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Host("user_annotation", "forward", 5000, 50'000)
      .Host("user_annotation", "attention", 8000, 10'000)
      .Launch("a", 10'000, 1)
      .Launch("b", 40'000, 2)
      .Launch("c", 80'000, 3)
      .Call("cudaStreamSynchronize", 45'000, 1000, 9);
  const Evidence evidence = Extracted(builder);
  ASSERT_THAT(evidence.kernels, SizeIs(3));
  EXPECT_THAT(evidence.kernels[0].annotations, ElementsAre(Place("forward > attention", 1)));
  EXPECT_THAT(evidence.kernels[1].annotations, ElementsAre(Place("forward", 1)));
  EXPECT_THAT(evidence.kernels[2].annotations, IsEmpty());
  ASSERT_THAT(evidence.syncs, SizeIs(1));
  EXPECT_THAT(evidence.syncs[0].annotations, ElementsAre(Place("forward", 1)));
}

TEST(Backward, NamesItsForwardOperator) {
  const Evidence evidence = Extracted(Training());
  ASSERT_THAT(evidence.kernels, SizeIs(2));
  EXPECT_EQ(evidence.kernels[0].backward_of, "");
  // aten::linear carries the number too; the operator that started last made the node.
  EXPECT_EQ(evidence.kernels[1].backward_of, "aten::addmm");
}

TEST(Backward, RunsForTheModuleOfItsForwardOperator) {
  TraceBuilder builder = Training();
  Module(builder, "Linear_0", 9000, 12'000);
  EXPECT_THAT(Extracted(builder).kernels[1].modules, ElementsAre(Place("Linear_0", 1)));
}

TEST(Backward, IsUnknownWhereTwoThreadsUseTheNumber) {
  TraceBuilder builder = Training();
  builder.Host("cpu_op", "aten::mul", 14'000, 1000, R"("Sequence number": 7, "Fwd thread id": 0)",
               3);
  EXPECT_EQ(Extracted(builder).kernels[1].backward_of, "");
}

TEST(Backward, OfARecordedTrainingStep) {
  const Evidence evidence = ExtractTrace(kTraces / "train_adamw_fused.json.gz");
  int backward = 0;
  for (const KernelRow& row : evidence.kernels) {
    if (row.op_path.find("AddmmBackward0") != std::string::npos) {
      EXPECT_EQ(row.backward_of, "aten::addmm") << row.op_path;
      ++backward;
    }
    if (row.op_path.find("GeluBackward0") != std::string::npos) {
      EXPECT_EQ(row.backward_of, "aten::gelu");
    }
    if (row.op_path.find("Backward0") == std::string::npos) {
      EXPECT_EQ(row.backward_of, "") << row.op_path;
    }
    if (row.op_path == "aten::_fused_adamw_") {
      EXPECT_EQ(PlaceText(row.annotations), "Optimizer.step#AdamW.step");
    }
  }
  EXPECT_GE(backward, 3);
}

TEST(Modules, OfARecordedModelWithStacks) {
  const Evidence with = ExtractTrace(kTraces / "llama4_prefill_stack.json.gz");
  const Evidence without = ExtractTrace(kTraces / "llama4_prefill_eager.json.gz");
  std::set<std::string> places, rows_with, rows_without;
  for (const KernelRow& row : with.kernels) {
    int64_t count = 0;
    for (const PlaceUse& use : row.modules) {
      EXPECT_THAT(use.place, StartsWith("LlamaForCausalLM_0"));
      places.insert(use.place);
      count += use.count;
    }
    EXPECT_EQ(count, row.Count()) << row.op_path;
    rows_with.insert(row.name + row.op_path);
  }
  for (const KernelRow& row : without.kernels) {
    EXPECT_THAT(row.modules, IsEmpty());
    rows_without.insert(row.name + row.op_path);
  }
  for (int layer = 0; layer < 4; ++layer) {
    EXPECT_THAT(places, Contains(fmt::format("LlamaForCausalLM_0 > LlamaModel_0 > "
                                             "LlamaDecoderLayer_{0} > LlamaMLP_{0} > Linear_{1}",
                                             layer, 7 * layer + 4)));
  }
  // Stacks change no row.
  EXPECT_EQ(rows_with, rows_without);
}

// As deep as paths go, so that a trace of one deep nest and many launches costs no more.
TEST(Modules, OfAHierarchyAreLookedForAsFarOutAsPathsReach) {
  for (const auto& [levels, told] : {std::pair{60, true}, std::pair{70, false}}) {
    TraceBuilder builder;
    builder.Step(1, 0, 1'000'000)
        .Host("cpu_op", "aten::linear", 1000, 900'000, R"("Module Hierarchy": "Net.fc")");
    for (int i = 0; i < levels; ++i) builder.Op("custom::deep", 2000 + i, 800'000 - 2 * i);
    builder.Launch("gemm", 400'000, 1);
    const Evidence evidence = Extracted(builder);
    ASSERT_THAT(evidence.kernels, SizeIs(1));
    EXPECT_EQ(!evidence.kernels[0].modules.empty(), told) << levels;
  }
}

TEST(Backward, IsLookedForAsFarOutAsPathsReach) {
  for (const auto& [levels, forward] : {std::pair{60, "aten::addmm"}, std::pair{70, ""}}) {
    TraceBuilder builder;
    builder.Step(1, 0, 1'000'000)
        .Host("cpu_op", "aten::addmm", 1000, 500, R"("Sequence number": 7, "Fwd thread id": 0)")
        .Host("cpu_op", "AddmmBackward0", 2000, 900'000,
              R"("Sequence number": 7, "Fwd thread id": 1)");
    for (int i = 0; i < levels; ++i) builder.Op("custom::deep", 3000 + i, 800'000 - 2 * i);
    builder.Launch("gemm", 400'000, 1);
    const Evidence evidence = Extracted(builder);
    ASSERT_THAT(evidence.kernels, SizeIs(1));
    EXPECT_EQ(evidence.kernels[0].backward_of, forward) << levels;
  }
}

TEST(InputTypes, AreThoseOfTheInnermostOperator) {
  const Evidence evidence = ExtractTrace(kTraces / "linear_eager.json.gz");
  ASSERT_FALSE(evidence.kernels.empty());
  EXPECT_THAT(evidence.kernels[0].input_types, HasSubstr("c10::BFloat16"));
}

// Of generated code the name says no type.
TEST(InputTypes, SayTheElementTypeWhereTheNameSaysNone) {
  const auto type_of = [](std::string_view kernel, std::string_view types) {
    TraceBuilder builder;
    builder.Step(1, 0, 100'000)
        .Host("cpu_op", kernel, 9000, 5000, fmt::format(R"("Input type": [{}])", types))
        .Launch(kernel, 10'000, 1);
    return Extracted(builder).kernels.at(0).info.in_dtype;
  };
  const std::string_view triton = "triton_poi_fused_gelu_mul_0";
  EXPECT_EQ(type_of(triton, R"("c10::BFloat16", "c10::BFloat16", "Scalar")"), "bf16");
  EXPECT_EQ(type_of(triton, R"("float", "float", "", "ScalarList")"), "fp32");
  EXPECT_EQ(type_of(triton, R"("c10::Half", "long int", "bool")"), "fp16");
  EXPECT_EQ(type_of(triton, R"("float", "c10::BFloat16", "float")"), "bf16+fp32");
  EXPECT_EQ(type_of(triton, R"("c10::BFloat16", "TensorList")"), "");
  EXPECT_EQ(type_of(triton, R"("long int", "Scalar")"), "");
  EXPECT_EQ(type_of(triton, ""), "");
  EXPECT_EQ(type_of("nvjet_sm90_tst_64x64_64x13_2x1_v_bz_bias_TNT", R"("float")"), "bf16");
  // Not generated for these types: its other calls may have others.
  EXPECT_EQ(type_of("geglu_fwd", R"("float")"), "");
}

TEST(Places, InFewWords) {
  EXPECT_EQ(PlaceText({}), "");
  EXPECT_EQ(PlaceText({{"A_0 > B_1 > C_2", 1, 5}}), "B_1 > C_2");
  EXPECT_EQ(PlaceText({{"M_0 > B_1 > C_2", 1, 5}, {"M_0 > B_4 > C_9", 1, 5}}), "B > C, 2 of them");
  EXPECT_EQ(PlaceText({{"B_1 > Norm_2", 1, 5}, {"M_0 > Norm_9", 1, 5}}), "Norm, 2 of them");
  EXPECT_EQ(PlaceText({{"B_1 > C_2", 1, 5}, {"B_4 > D_9", 1, 7}, {"x", 1, 1}}),
            "B_4 > D_9 and 2 others");
}

}  // namespace
}  // namespace perfgate
