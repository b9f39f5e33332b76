// What stands around the events of a document.
#include <optional>
#include <string>

#include "trace/handler.h"
#include "trace/numbers.h"

namespace perfgate {
namespace {

// The start of it: no fact about a trace is longer.
std::string_view Start(std::string_view text) {
  constexpr size_t kLongestFact = 256;
  return text.substr(0, kLongestFact);
}

}  // namespace

void TraceHandler::NoteKey(std::string_view key) {
  if (key == "span_indx") facts_.other_program = "a profile of PaddlePaddle";
  constexpr size_t kLongestKey = 64;
  if (facts_.keys.size() < DocumentFacts::kMostKeys) {
    facts_.keys.emplace_back(key.substr(0, kLongestKey));
  }
}

void TraceHandler::TopScalar(std::string_view text) {
  if (top_key_ == "schema" || top_key_ == "$schema") facts_.schema = Start(text);
  const auto flag = [&text] { return text == "1" || text == "true"; };
  const std::string value(Start(text));
  if (top_key_ == "baseTimeNanoseconds") trace_.base_ns = ParseInteger(text).value_or(0);
  if (top_key_ == "cupti_version") trace_.cupti_version = value;
  if (top_key_ == "cuda_runtime_version") trace_.cuda_runtime_version = value;
  if (top_key_ == "cuda_driver_version") trace_.cuda_driver_version = value;
  if (top_key_ == "record_shapes") trace_.record_shapes = flag();
  if (top_key_ == "with_stack") trace_.with_stack = flag();
  if (top_key_ == "profile_memory") trace_.profile_memory = flag();
  if (top_key_ == "perfgate_writer") trace_.writer = value;
  if (top_key_ == "perfgate_profiler") trace_.profiler = value;
}

void TraceHandler::SectionScalar(std::string_view text) {
  const std::optional<int64_t> integer = ParseInteger(text);
  if (section_ == Section::kDevices && depth_ == 3) {
    DeviceProperties& device = trace_.devices.back();
    if (sub_key_ == "id") device.id = integer.value_or(kAbsent);
    if (sub_key_ == "name") device.name = Start(text);
    // The second spelling is that of 2021.
    if (sub_key_ == "numSms" || sub_key_ == "multiProcessorCount") {
      device.sm_count = integer.value_or(0);
    }
    if (sub_key_ == "totalGlobalMem") device.memory_bytes = integer.value_or(0);
    if (sub_key_ == "uuid") device.uuid = Start(text);
  } else if (section_ == Section::kDistributed && depth_ == 2 && integer && *integer >= 0 &&
             *integer <= INT32_MAX) {
    if (sub_key_ == "rank") trace_.rank = static_cast<int>(*integer);
    if (sub_key_ == "world_size") trace_.world_size = static_cast<int>(*integer);
  } else if (section_ == Section::kEnvironment && depth_ == 2) {
    constexpr size_t kMostFacts = 64;
    if (trace_.environment.size() < kMostFacts) trace_.environment[sub_key_] = Start(text);
  } else if (section_ == Section::kFooter && depth_ == 2) {
    if (sub_key_ == "records") trace_.footer_records = integer.value_or(kAbsent);
    if (sub_key_ == "dropped") trace_.footer_dropped = integer.value_or(kAbsent);
    if (sub_key_ == "fault") trace_.footer_fault = text.substr(0, 1024);
  }
}

}  // namespace perfgate
