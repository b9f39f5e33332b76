// Pairs of recorded traces: what a reader of the report is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "diff_rows.h"

namespace perfgate {
namespace {

const std::map<std::string, Evidence>& Traces() {
  static const std::map<std::string, Evidence> kTraces = [] {
    std::map<std::string, Evidence> traces;
    for (const auto& file : std::filesystem::directory_iterator(PERFGATE_TEST_DATA "/traces")) {
      std::string name = file.path().filename().string();
      size_t end = name.find(".json.gz");
      if (end != std::string::npos) traces.emplace(name.substr(0, end), ExtractTrace(file.path()));
    }
    return traces;
  }();
  return kTraces;
}

struct Golden {
  std::string base, head;
  std::vector<std::string> changes;  // "kind +count: text"
};

class RealPairs : public ::testing::TestWithParam<Golden> {};

TEST_P(RealPairs, AreToldInTheFewestWordsThatAreTrue) {
  const Golden& golden = GetParam();
  Diff diff = Compare(Traces().at(golden.base), Traces().at(golden.head));
  EXPECT_THAT(LinesWithText(diff), ::testing::ElementsAreArray(golden.changes));
  EXPECT_EQ(diff.different_shapes, "");
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, RealPairs,
    ::testing::Values(
        Golden{"geglu_compile",
               "geglu_eager",
               {"fusion_split +1: a fused kernel came apart, 2 kernels instead of 1: "
                "triton_poi_fused_gelu_mul -> gelu tanh "
                "bf16, mul bf16"}},
        Golden{"geglu_eager",
               "geglu_compile",
               {"fused -1: 2 kernels became 1: gelu tanh bf16, mul bf16 -> "
                "triton_poi_fused_gelu_mul"}},
        Golden{"geglu_hand_triton",
               "geglu_eager",
               {"fusion_lost +1: a fused kernel is gone, 2 kernels instead of 1 do its work: "
                "geglu_fwd -> gelu tanh "
                "bf16, mul bf16"}},
        Golden{"geglu_compile",
               "geglu_hand_triton",
               {"substituted +0: another kernel: triton_poi_fused_gelu_mul -> geglu_fwd"}},
        Golden{"geglu_eager",
               "geglu_hidden_copy",
               {"hidden_copy +2: 2 copies a step that aten::contiguous asked for: 2 x copy bf16"}},
        Golden{"linear_eager", "linear_compile", {}},
        Golden{"linear_eager",
               "linear_nobias_plus_add",
               {"epilogue_lost +1: the bias left the GEMM's epilogue and is now add bf16: nvjet "
                "128x128 bias -> nvjet "
                "128x128, add bf16"}},
        Golden{"linear_nobias_plus_add",
               "linear_eager",
               {"epilogue_gained -1: the bias is now in the GEMM's epilogue, it was add bf16: "
                "nvjet 128x128, add bf16 "
                "-> nvjet 128x128 bias"}},
        Golden{"linear_eager",
               "linear_fp32",
               {"tensor_core_lost +0: no tensor cores any more (bf16 to fp32): nvjet 128x128 bias "
                "-> xmma 128x128x8 "
                "fp32"}},
        Golden{"sdpa_flash",
               "sdpa_math",
               {"fusion_lost +19: a fused kernel is gone, 20 kernels instead of 1 do its work: "
                "flash fwd bf16 "
                "128x128x64 -> xmma 128x128x8 fp32, 2 x where fp32, xmma 256x64x8 fp32, add fp32, "
                "softmax fp32, 2 x copy fp32->bf16, and 12 more"}},
        Golden{"train_adamw_fused",
               "train_adamw_loop",
               {"fusion_lost +31: a fused kernel is gone, 32 kernels instead of 1 do its work: "
                "fused_adamw fp32 -> 4 "
                "x add fp32, 4 x addcdiv fp32, 4 x addcmul fp32, 12 x mul fp32, 4 x lerp fp32, 4 x "
                "sqrt fp32",
                "removed -1: 1 kernel went under aten::_foreach_add_: add fp32"}},
        Golden{"geglu_compile",
               "geglu_cudagraph",
               {"added +1: 1 kernel came under aten::_foreach_copy_: copy bf16"}},
        Golden{"geglu_cudagraph",
               "geglu_compile",
               {"graph_lost +0: 4 kernels a step left a CUDA graph and are launched one by one",
                "removed -1: 1 kernel went under aten::_foreach_copy_: copy bf16"}},
        Golden{"cpp_geglu_cudagraph",
               "cpp_geglu_eager",
               {"graph_lost +0: 6 kernels a step left a CUDA graph and are launched one by one"}},
        Golden{"cpp_geglu_aoti",
               "cpp_geglu_eager",
               {"fusion_split +1: a fused kernel came apart, 2 kernels instead of 1: "
                "triton_poi_fused_gelu_mul -> gelu bf16, mul "
                "bf16"}},
        Golden{"mlp_eager",
               "mlp_pageable_h2d",
               {"sync_added +0: the host waits for the GPU: cudaStreamSynchronize 0 -> 2 a step, "
                "under aten::to",
                "added +0: Memcpy HtoD (Pageable -> Device): 0 -> 1 a step, 0 B -> 1 MiB, 0 ns -> "
                "21.7 us, asked for by aten::to",
                "added +0: Memcpy DtoH (Device -> Pageable): 0 -> 1 a step, 0 B -> 1 MiB, 0 ns -> "
                "20.7 us, asked for by aten::to"}},
        Golden{"cpu_geglu_aoti",
               "cpu_geglu_eager_torch215",
               {"fusion_split +1: a fused kernel came apart, 2 kernels instead of 1: "
                "cpp_fused_gelu_mul "
                "-> gelu, mul"}},
        Golden{"llama4_prefill_eager", "llama4_prefill_stack", {}},
        Golden{"ddp_train_rank0", "ddp_train_rank1", {}}),
    [](const ::testing::TestParamInfo<Golden>& golden) {
      return golden.param.base + "_then_" + golden.param.head;
    });

TEST(AllRealPairs, CloseExactly) {
  for (const auto& [base_name, base] : Traces()) {
    for (const auto& [head_name, head] : Traces()) {
      Diff diff = Compare(base, head);
      EXPECT_TRUE(Closes(diff)) << base_name << " and " << head_name;
      for (const Change& change : diff.changes) EXPECT_FALSE(change.text.empty());
      for (const Answer& answer : diff.answers) EXPECT_FALSE(answer.answer.empty());
    }
  }
}

TEST(AllRealTraces, AgainstThemselvesHaveNoChange) {
  for (const auto& [name, evidence] : Traces()) {
    Diff diff = Compare(evidence, evidence);
    EXPECT_THAT(LinesWithText(diff), ::testing::IsEmpty()) << name;
    EXPECT_EQ(diff.different_shapes, "") << name;
    EXPECT_EQ(diff.kernel_count, 0) << name;
    EXPECT_EQ(diff.kernel_time_ns, 0) << name;
    EXPECT_TRUE(diff.differing_key.empty()) << name;
  }
}

TEST(RealShapes, OfAnotherBatchAreSeen) {
  EXPECT_EQ(Compare(Traces().at("mlp_eager"), Traces().at("mlp_eager_b1")).different_shapes,
            "aten::addmm is called with [512, 1024] in the base and with [1, 1024] in the head");
  EXPECT_THAT(
      Compare(Traces().at("cpu_geglu_aoti"), Traces().at("cpu_geglu_compile")).different_shapes,
      ::testing::HasSubstr("the base marks its steps and the head does not"));
}

TEST(RealAnswers, SayWhatHappenedWithNumbers) {
  Diff diff = Compare(Traces().at("geglu_compile"), Traces().at("geglu_eager"));
  EXPECT_THAT(diff.answers[0].answer,
              ::testing::StartsWith("1 more: 4 -> 5 a step; GPU time 31.8 us -> 34.0 us"));
  EXPECT_EQ(diff.answers[1].answer,
            "no, the kernels differ: operator calls 4 -> 17, launch calls 4 -> 5, compiled "
            "regions 1 -> 0 a step");
  EXPECT_EQ(diff.answers[2].answer, "no kernel was replaced by another for the same operator");
  EXPECT_THAT(diff.answers[3].answer,
              ::testing::HasSubstr("latency is unknown, the runs have no timed window"));

  Diff graph = Compare(Traces().at("cpp_geglu_eager"), Traces().at("cpp_geglu_cudagraph"));
  EXPECT_EQ(graph.answers[1].answer,
            "yes, the kernels are the same but the CPU's work differs; they run from 1 CUDA graph "
            "launch a step now: operator calls 20 -> 0, launch calls 6 -> 0, graph launches 0 -> 1 "
            "a step");
  Diff cores = Compare(Traces().at("linear_eager"), Traces().at("linear_fp32"));
  EXPECT_THAT(cores.answers[2].answer,
              ::testing::StartsWith("yes: no tensor cores any more (bf16 to fp32)"));
}

TEST(RealBounds, AreSaidWithTheNumbersThatSaySo) {
  auto bound = [](const char* name) {
    return Compare(Traces().at(name), Traces().at(name)).base_bound;
  };
  EXPECT_EQ(
      bound("geglu_eager"),
      "launch: the GPU works 34.0 us of 223 us (15 %) from its first to its last work, under "
      "the profiler; 5 kernel launches a step; idle 183 us because the next launch came late, "
      "0 ns because the host waited, 5.25 us though the next work was launched; launch queue depth "
      "0.0");
  EXPECT_THAT(bound("mlp_pageable_h2d"),
              ::testing::StartsWith("transfer: copies between host and GPU take"));
  EXPECT_THAT(bound("mlp_eager_b4096"), ::testing::StartsWith("compute: "));
  EXPECT_THAT(bound("mlp_eager_b4096"),
              ::testing::HasSubstr("matrix products run at 741 TFLOP/s, 75 % of their roofline "
                                   "(of 100 % of their time the sizes are known)"));
  EXPECT_THAT(bound("sdpa_math"), ::testing::StartsWith("memory: "));
  EXPECT_THAT(bound("llama4_prefill_eager"),
              ::testing::AllOf(::testing::StartsWith("launch: "),
                               ::testing::HasSubstr("127 us because the host waited")));
  EXPECT_THAT(bound("cpu_geglu_aoti"), ::testing::StartsWith("compute: "));
  EXPECT_THAT(bound("linear_eager"),
              ::testing::StartsWith("unknown: how busy the GPU is in a step is not known"));
}

}  // namespace
}  // namespace perfgate
