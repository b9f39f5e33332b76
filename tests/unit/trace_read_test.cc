// What the reader takes from a trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "trace/trace.h"
#include "trace_reading.h"

namespace perfgate {
namespace {

using testing::HasSubstr;

TEST(TraceReader, ReadsMicrosecondsWithDecimalsAsNanoseconds) {
  const TraceData trace = ReadOne(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":5132254838507.939,"dur":572.526})");
  ASSERT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.events[0].start_ns, 5132254838507939);
  EXPECT_EQ(trace.events[0].duration_ns, 572526);
  EXPECT_FALSE(trace.whole_microseconds);
  EXPECT_EQ(trace.incomplete, "");
}

TEST(TraceReader, ReadsEpochTimesOfBothOlderDialects) {
  const TraceData whole = ReadOne(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1683564901549715,"dur":3})");
  EXPECT_EQ(whole.events[0].start_ns, 1683564901549715000);
  EXPECT_TRUE(whole.whole_microseconds);
  const TraceData decimals = ReadOne(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1711234567890123.457,"dur":0.001})");
  EXPECT_EQ(decimals.events[0].start_ns, 1711234567890123457);
  EXPECT_EQ(decimals.events[0].duration_ns, 1);
}

TEST(TraceReader, AcceptsNumbersAsTextAndTextAsIds) {
  const TraceData trace = ReadOne(
      R"({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":"GPU 3","tid":"stream 7","ts":"10.5","dur":"2","args":{"correlation":"12","size":"4096"}})");
  ASSERT_EQ(trace.events.size(), 1U);
  const TraceEvent& event = trace.events[0];
  EXPECT_EQ(event.start_ns, 10500);
  EXPECT_EQ(event.device, 3);
  EXPECT_EQ(event.stream, 7);
  EXPECT_EQ(event.correlation, 12);
  EXPECT_EQ(event.bytes, 4096);
}

TEST(TraceReader, KeysOfAnEventAndOfTheDocumentMayStandInAnyOrder) {
  const TraceData trace = Read(
      R"({"traceEvents": [{"args": {"grid": [4, 2, 1], "correlation": 9, "device": 0, "stream": 7},
          "dur": 1.5, "ts": 2, "tid": 7, "pid": 0, "name": "k", "cat": "kernel", "ph": "X"}],
          "other": {"traceEvents": [1, {"deep": [[]]}]},
          "cupti_version": 130001, "deviceProperties": [{"numSms": 132, "name": "H200", "id": 0}],
          "baseTimeNanoseconds": 1790857026000000000})");
  ASSERT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.events[0].kind, EventKind::kKernel);
  EXPECT_EQ(trace.events[0].correlation, 9);
  EXPECT_EQ(trace.shapes[trace.events[0].detail].grid, (std::array<int32_t, 3>{4, 2, 1}));
  EXPECT_EQ(trace.cupti_version, "130001");
  EXPECT_EQ(trace.base_ns, 1790857026000000000);
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].sm_count, 132);
  EXPECT_EQ(trace.incomplete, "");
}

TEST(TraceReader, KnowsTheDevicePropertiesOf2021) {
  const TraceData trace = Read(
      R"({"computeProperties": [{"id": 0, "name": "V100", "major": 7, "multiProcessorCount": 80}],
          "traceEvents": [{"ph": "X", "cat": "Kernel", "name": "k", "ts": 1, "dur": 1}]})");
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].sm_count, 80);
}

TEST(TraceReader, KeepsInputDimsInOneSpelling) {
  const TraceData trace = ReadOne(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"Input Dims":[[2,  3],[],[[4],[5,6]]],"Ev Idx":1}})");
  EXPECT_EQ(trace.InputDims(trace.events[0]), "[[2, 3], [], [[4], [5, 6]]]");
}

TEST(TraceReader, KeepsWhatAttributionNeedsOfOperators) {
  const TraceData trace = Read(
      R"x({"traceEvents": [
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":1,"args":{
          "Input Dims":[[2,3],[]],"Input type":["c10::BFloat16","","Scalar"],
          "Module Hierarchy":"TOP(Net).fc(Linear)","Sequence number":41,"Fwd thread id":2}},
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":3,"dur":1,"args":{
          "Input Dims":[[2,3],[]],"Input type":["c10::BFloat16","","Scalar"],
          "Module Hierarchy":"TOP(Net).fc(Linear)"}},
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":5,"dur":1}]})x");
  ASSERT_EQ(trace.events.size(), 3U);
  const TraceEvent& op = trace.events[0];
  EXPECT_EQ(op.SequenceNumber(), 41);
  EXPECT_EQ(op.ForwardThread(), 2);
  EXPECT_EQ(trace.events[1].SequenceNumber(), kAbsent);
  EXPECT_EQ(trace.events[1].ForwardThread(), -1);
  const OperatorSignature& signature = trace.signatures[op.detail];
  EXPECT_EQ(trace.Text(signature.input_dims), "[[2, 3], []]");
  EXPECT_EQ(trace.Text(signature.input_types), "[c10::BFloat16, , Scalar]");
  EXPECT_EQ(trace.Text(signature.module_hierarchy), "TOP(Net).fc(Linear)");
  EXPECT_EQ(trace.events[1].detail, op.detail);
  EXPECT_EQ(trace.signatures.size(), 2U);
  EXPECT_EQ(trace.InputDims(trace.events[2]), "");
}

TEST(TraceReader, KeepsTheFramesOfModulesAndNoOthers) {
  TraceBuilder builder;
  builder.Host("python_function", "nn.Module: Linear_3", 1000, 500)
      .Host("python_function", "torch/nn/modules/linear.py(120): forward", 1000, 500);
  const TraceData trace = Read(builder.Json());
  ASSERT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.events[0].kind, EventKind::kModule);
  EXPECT_EQ(trace.Text(trace.events[0].name), "Linear_3");
  EXPECT_EQ(trace.left_out.at("Python frame: not used for counts or times"), 1);
}

TEST(TraceReader, ReadsTheFormOf2020) {
  const TraceData trace = Read(
      R"([{"ph":"X","cat":"Operator","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9},
          {"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":1,"args":{"correlation":5}},
          {"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":7,"ts":4,"dur":3,"args":{"correlation":5,"device":0,"stream":7}},
          {"ph":"X","cat":"Memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":8,"dur":3,"args":{"bytes":8}}])");
  EXPECT_EQ(trace.refused, "");
  ASSERT_EQ(trace.events.size(), 4U);
  EXPECT_EQ(trace.events[2].kind, EventKind::kKernel);
}

TEST(TraceReader, CountsWhatItLeavesOutByReason) {
  TraceBuilder builder;
  builder.Raw(std::string(kOp))
      .Raw(R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"p"}})")
      .Raw(R"({"ph":"s","cat":"ac2g","id":1,"name":"ac2g","pid":1,"tid":1,"ts":1})")
      .Raw(
          R"({"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#1","pid":0,"tid":7,"ts":1,"dur":1})")
      .Raw(R"({"ph":"X","cat":"quantum","name":"x","pid":0,"tid":7,"ts":1,"dur":1})");
  const TraceData trace = Read(builder.Json());
  EXPECT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.events_read, 5);
  int64_t left_out = 0;
  for (const auto& [reason, count] : trace.left_out) left_out += count;
  EXPECT_EQ(left_out, 4);
  EXPECT_EQ(trace.left_out.at("event of category 'quantum', which is not known"), 1);
}

TEST(TraceReader, CountsInTheSingularAndInThePlural) {
  constexpr std::string_view kArrow =
      R"({"ph":"s","cat":"ac2g","id":1,"name":"ac2g","pid":1,"tid":1,"ts":1})";
  TraceBuilder builder;
  builder.Raw(std::string(kOp)).Raw(std::string(kArrow));
  EXPECT_EQ(
      Read(builder.Json()).left_out.at("flow arrow: never evidence, links are made by correlation"),
      1);
  builder.Raw(std::string(kArrow));
  EXPECT_EQ(Read(builder.Json())
                .left_out.at("flow arrows: never evidence, links are made by correlation"),
            2);
}

TEST(TraceReader, ReadsRankAndWorldSize) {
  TraceBuilder builder;
  builder.Header(R"("distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2,
                     "pg_config": [{"rank": 9, "ranks": [0, 1]}]},)");
  const TraceData trace = Read(builder.Raw(std::string(kOp)).Json());
  EXPECT_EQ(trace.rank, 1);
  EXPECT_EQ(trace.world_size, 2);
}

TEST(TraceReader, ReadsTheMessageOfACollectivesKernel) {
  TraceBuilder builder;
  builder.Gpu("kernel", "ncclDevKernel_AllGather_RING_LL()", 1000, 500, 1,
              R"(, "Collective name": "_allgather_base", "In msg nelems": 10,
                 "Out msg nelems": 20, "Group size": 2, "dtype": "BFloat16")");
  // 2023's names of the same; and a kernel of no collective.
  builder.Gpu("kernel", "ncclKernel_AllReduce()", 2000, 500, 2,
              R"(, "Collective name": "allreduce", "In msg size": 7, "Out msg size": 7)");
  builder.Kernel("gemm", 3000, 500, 3);
  const TraceData trace = Read(builder.Json());
  ASSERT_EQ(trace.events.size(), 3U);
  const auto message = [&trace](size_t event) {
    return trace.messages[trace.shapes[trace.events[event].detail].message];
  };
  EXPECT_EQ(trace.Text(message(0).collective), "_allgather_base");
  EXPECT_EQ(trace.Text(message(0).dtype), "BFloat16");
  EXPECT_EQ(message(0).in_elements, 10);
  EXPECT_EQ(message(0).out_elements, 20);
  EXPECT_EQ(message(0).group_size, 2);
  EXPECT_EQ(message(1).in_elements, 7);
  EXPECT_EQ(message(1).out_elements, 7);
  EXPECT_EQ(message(1).group_size, 0);
  EXPECT_EQ(message(2), Message{});
}

TEST(TraceReader, AHalfOfAnElementIsNoNumberOfElements) {
  TraceBuilder builder;
  builder.Gpu("kernel", "ncclKernel_AllReduce()", 2000, 500, 2,
              R"(, "Collective name": "allreduce", "In msg nelems": 1.5, "Out msg nelems": 8.0)");
  builder.Gpu("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 3000, 500, 3, R"(, "bytes": 0.25)");
  const TraceData trace = Read(builder.Json());
  ASSERT_EQ(trace.events.size(), 2U);
  const Message message = trace.messages[trace.shapes[trace.events[0].detail].message];
  EXPECT_EQ(message.in_elements, kAbsent);
  EXPECT_EQ(message.out_elements, 8);
  EXPECT_EQ(trace.events[1].bytes, kAbsent);
}

TEST(TraceReader, AListInPlaceOfADeviceIsNone) {
  const TraceData trace =
      Read(R"({"distributedInfo": {"id": 1}, "deviceProperties": [[7]], "traceEvents": [)" +
           std::string(kOp) + "]}");
  EXPECT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.devices.size(), 0U);
}

TEST(TraceReader, AFloodOfDevicesIsCutOff) {
  std::string devices = R"({"id": 0, "name": "H200"})";
  for (int i = 1; i < 5000; ++i) devices += R"(, {"id": 7})";
  TraceBuilder builder;
  builder.Header("\"deviceProperties\": [" + devices + "],").Raw(std::string(kOp));
  const TraceData trace = Read(builder.Json());
  EXPECT_EQ(trace.incomplete, "");
  ASSERT_EQ(trace.devices.size(), 1024U);
  EXPECT_EQ(trace.devices[0].name, "H200");
}

TEST(TraceReader, TheCollectorOwesItsFooter) {
  TraceBuilder builder;
  builder.Header(R"("perfgate_profiler": "cupti",)").Raw(std::string(kOp));
  EXPECT_THAT(Read(builder.Json()).incomplete, HasSubstr("footer is missing"));
  TraceBuilder whole = builder;
  whole.Footer(R"(, "perfgate_footer": {"records": 1, "dropped": 0})");
  EXPECT_EQ(Read(whole.Json()).incomplete, "");
  TraceBuilder dropped = builder;
  dropped.Footer(R"(, "perfgate_footer": {"records": 1, "dropped": 3})");
  EXPECT_EQ(Read(dropped.Json()).incomplete, "the collector dropped 3 records");
  TraceBuilder fewer = builder;
  fewer.Footer(R"(, "perfgate_footer": {"records": 2, "dropped": 0})");
  EXPECT_EQ(Read(fewer.Json()).incomplete, "the collector wrote 2 records, the file holds 1");
  TraceBuilder fault = builder;
  fault.Footer(R"(, "perfgate_footer": {"records": 1, "dropped": 0, "fault": "3 of 5 steps"})");
  EXPECT_EQ(Read(fault.Json()).incomplete, "3 of 5 steps");
}

TEST(TraceReader, KnowsWhatTheCollectorSaysOfLibrariesAndGpus) {
  TraceBuilder builder;
  builder.Header(R"("deviceProperties": [{"id": 0, "uuid": "GPU-1"}],)").Raw(std::string(kOp));
  builder.Footer(R"(, "perfgate_environment": {"cublas": "13.1.0", "torch": "2.11.0"})");
  const TraceData trace = Read(builder.Json());
  EXPECT_EQ(trace.environment.at("cublas"), "13.1.0");
  EXPECT_EQ(trace.environment.at("torch"), "2.11.0");
  EXPECT_EQ(trace.devices.at(0).uuid, "GPU-1");
}

TEST(TraceReader, SaysWhyAFileCannotBeOpened) {
  EXPECT_THAT(TryReadTrace("/no/such/trace.json").refused, HasSubstr("No such file"));
  EXPECT_THAT(TryReadTrace("/").refused, HasSubstr("a folder, not a file"));
}

}  // namespace
}  // namespace perfgate
