// What a file is that is no trace, and what is one whatever stands around its events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "trace/trace.h"
#include "trace_builder.h"

namespace perfgate {
namespace {

using testing::HasSubstr;

struct NoTrace {
  const char* what;
  std::string contents;
  const char* message;
};

class Refused : public testing::TestWithParam<NoTrace> {};

TEST_P(Refused, BecauseItIsNoTraceAndSaysWhatItIs) {
  const ScratchFile file("trace.json", GetParam().contents);
  try {
    ReadTrace(file.path());
    FAIL() << "was read as a trace";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kInput);
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
    EXPECT_THAT(error.what(), HasSubstr(file.path().string()));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Refused,
    testing::Values(
        NoTrace{"empty", "", "an empty file"}, NoTrace{"blank", " \n", "an empty file"},
        NoTrace{"png", "\x89PNG\r\n\x1a\n....", "a PNG image"},
        NoTrace{"empty_object", "{}", "an empty JSON object"},
        NoTrace{"other_json", R"({"a": 1})", "JSON without the key \"traceEvents\""},
        NoTrace{"execution_trace", R"({"schema": "1.0.2-chakra.0.0.4", "nodes": [{"id": 1}]})",
                "an execution trace"},
        NoTrace{"memory_timeline", "[[1, 2, 3], [4, 5, 6]]", "a memory timeline"},
        NoTrace{
            "legacy",
            R"([{"name": "aten::mm", "ph": "X", "ts": 1, "dur": 2, "tid": 1, "pid": "CPU functions", "args": {}}])",
            "legacy exporter"},
        NoTrace{"jax",
                R"({"displayTimeUnit": "ns", "metadata": {"highres-ticks": true}, "traceEvents": [
                {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
                {"ph": "M", "pid": 1, "tid": 14, "name": "thread_name", "args": {"name": "XLA Ops"}},
                {"ph": "X", "pid": 1, "tid": 14, "ts": 1.5, "dur": 2.5, "name": "loop_add_fusion",
                 "args": {"hlo_module": "jit_f", "hlo_op": "loop_add_fusion"}}]})",
                "a trace of JAX (XLA's profiler), which ties no kernel to its launch: measure the "
                "program itself with `profiler: cupti`"},
        NoTrace{"msprof",
                R"([{"name": "MatMul", "pid": 1, "tid": 2, "ts": "1700000000000.5", "dur": 10.5,
                     "args": {"Task Type": "AI_CORE", "Stream Id": 2}, "ph": "X"}])",
                "a profile of an Ascend accelerator"},
        NoTrace{"perfetto", std::string("\n\x0b\x08\x01\x12\x07\x00\x01", 8), "Perfetto protobuf"},
        NoTrace{"pickle", "\x80\x04\x95...", "a Python pickle"},
        NoTrace{"pickle_of_protocol_0", "(dp0\nVsegments\np1\n(lp2\ns.", "a Python pickle"},
        NoTrace{"pickle_of_protocol_1", std::string("}q\0(X\x08\0\0\0segments", 17),
                "a Python pickle"},
        NoTrace{"text", "hello there", "text that is no JSON"},
        NoTrace{"not_found", "404: Not Found", "the answer of a download that failed"},
        NoTrace{"curl", "curl: (22) The requested URL returned error: 404\n",
                "the answer of a download that failed"},
        NoTrace{"bucket", "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>",
                "the answer of a download that failed"},
        NoTrace{"github_error",
                R"({"message": "Not Found", "documentation_url": "https://x", "status": "404"})",
                "an error of GitHub's API"},
        NoTrace{"github_contents",
                R"({"name": "t.json", "sha": "ab", "content": "e30=", "encoding": "base64"})",
                "what GitHub's API says of a file"},
        NoTrace{"memory_segments",
                R"([{"device": 0, "address": 1, "total_size": 2, "blocks": []}])",
                "a memory snapshot of PyTorch"},
        NoTrace{"json_in_a_string", R"("{\"traceEvents\": [{\"ph\": \"X\"}]}")",
                "a single JSON value"},
        NoTrace{"sqlite", std::string("SQLite format 3\0", 16), "an SQLite database"}),
    [](const auto& named) { return named.param.what; });

// Events that only Kineto writes make a trace.
class OddTraces : public testing::TestWithParam<std::string_view> {};

TEST_P(OddTraces, AreReadWhateverStandsAroundTheEvents) {
  std::string json(GetParam());
  constexpr std::string_view kHole = "OP";
  json.replace(
      json.find(kHole), kHole.size(),
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":10.250,"dur":3})");
  const ScratchFile file("trace.json", json);
  const TraceData trace = TryReadTrace(file.path());
  EXPECT_EQ(trace.refused, "");
  ASSERT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.Text(trace.events[0].name), "aten::mm");
}

INSTANTIATE_TEST_SUITE_P(
    Documents, OddTraces,
    testing::Values(
        R"([[1, 2], OP])", R"([{}, OP])", R"(["x", OP])",
        R"({"traceEvents": [OP], "span_indx": "0"})", R"({"span_indx": "0", "traceEvents": [OP]})",
        R"([{"ph":"X","cat":"Session","name":"load","pid":1,"tid":1,"ts":1,"dur":9}, OP])",
        R"({"nodes": [], "schema": "1.0.2-chakra.0.0.4", "traceEvents": [OP]})",
        R"({"traceEvents": [OP], "viztracer_metadata": {}})",
        R"({"traceEvents": [OP], "schema": "perfgate.samples/1"})"));

TEST(TracesOfOthers, AreNoneAlthoughTheirKernelsAreCalledLikeOldOnes) {
  const ScratchFile file(
      "trace.json",
      R"([{"ph":"X","cat":"Session","name":"load","pid":1,"tid":1,"ts":1,"dur":9},
          {"ph":"X","cat":"Kernel","name":"sgemm","pid":-1,"tid":-1,"ts":12,"dur":4}])");
  EXPECT_EQ(TryReadTrace(file.path()).refused, "not a trace but a profile of ONNX Runtime");
}

TEST(NoTraces, CutAnywhereAreStillNone) {
  int files = 0;
  const ScratchFile cut("cut", "");
  for (const auto& entry : std::filesystem::directory_iterator(PERFGATE_TEST_DATA "/defects")) {
    if (!entry.path().filename().string().starts_with("16_")) continue;
    ++files;
    const std::string whole = ReadFile(entry.path());
    for (size_t size = 0; size < std::min<size_t>(whole.size(), 300); size += size < 32 ? 1 : 37) {
      cut.Write(std::string_view(whole).substr(0, size));
      const TraceData trace = TryReadTrace(cut.path());
      EXPECT_TRUE(!trace.refused.empty() || !trace.incomplete.empty())
          << entry.path() << " cut at " << size;
    }
  }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace perfgate
