#include "trace/handler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "trace/numbers.h"

namespace perfgate {
namespace {

constexpr int kDeepestNesting = 512;
constexpr size_t kLongestDims = 4096;
constexpr size_t kLongestName = size_t{1} << 16;

std::string_view Bounded(std::string_view text, size_t longest) { return text.substr(0, longest); }

// The number of "7", "stream 7" or "GPU 0": its last word.
std::optional<int64_t> LastNumber(std::string_view text) {
  const size_t blank = text.rfind(' ');
  return ParseInteger(blank == std::string_view::npos ? text : text.substr(blank + 1));
}

}  // namespace

void PendingEvent::Clear() {
  for (FieldText* text : {&phase, &category, &name, &process, &thread, &module_hierarchy}) {
    text->Clear();
  }
  input_dims.clear();
  input_types.clear();
  signature = kNoSignature;
  start_ns = duration_ns = correlation = external_id = bytes = cbid = kAbsent;
  sequence = forward_thread = kAbsent;
  device = stream = device_type = device_id = kAbsent;
  shape = LaunchShape{};
  finished = true;
  fields_seen = 0;
  repeated = false;
}

TraceHandler::Field TraceHandler::EventField(std::string_view key) {
  static constexpr std::array<std::pair<std::string_view, Field>, 8> kFields = {{
      {"ph", Field::kPhase},
      {"cat", Field::kCategory},
      {"name", Field::kName},
      {"pid", Field::kProcess},
      {"tid", Field::kThread},
      {"ts", Field::kStart},
      {"dur", Field::kDuration},
      {"args", Field::kArgs},
  }};
  for (const auto& [text, field] : kFields) {
    if (text == key) return field;
  }
  return Field::kNone;
}

TraceHandler::Field TraceHandler::ArgField(std::string_view key) {
  static constexpr std::array<std::pair<std::string_view, Field>, 26> kFields = {{
      {"External id", Field::kExternalId},
      {"correlation", Field::kCorrelation},
      {"Input Dims", Field::kInputDims},
      {"Input type", Field::kInputTypes},
      {"Module Hierarchy", Field::kModuleHierarchy},
      {"Sequence number", Field::kSequence},
      {"Fwd thread id", Field::kForwardThread},
      {"device", Field::kDevice},
      {"stream", Field::kStream},
      {"cbid", Field::kCbid},
      {"bytes", Field::kBytes},
      {"Bytes", Field::kBytes},
      {"grid", Field::kGrid},
      {"block", Field::kBlock},
      {"Device Type", Field::kDeviceType},
      {"Device Id", Field::kDeviceId},
      {"fromDevice", Field::kFromDevice},
      {"finished", Field::kFinished},
      // Older and other writers.
      {"external id", Field::kExternalId},
      {"External Id", Field::kExternalId},
      {"Input dims", Field::kInputDims},
      {"size", Field::kBytes},
      {"cid", Field::kCbid},
      {"Correlation", Field::kCorrelation},
      {"BeginNs", Field::kRocprof},
      {"Task Type", Field::kTaskType},
  }};
  for (const auto& [text, field] : kFields) {
    if (text == key) return field;
  }
  return Field::kNone;
}

bool TraceHandler::Key(const char* text, unsigned size, bool) {
  const std::string_view key = Bounded({text, size}, 256);
  if (InEvent()) {
    if (depth_ == event_depth_) {
      field_ = EventField(key);
      if (facts_.root_is_array && facts_.objects == 1) NoteKey(key);
    } else if (in_args_ && depth_ == event_depth_ + 1) {
      arg_ = ArgField(key);
      shape_at_ = 0;
    }
  } else if (depth_ == 1) {
    top_key_ = key;
    NoteKey(key);
    facts_.has_events_key |= key == "traceEvents";
  } else if (section_ != Section::kOther) {
    sub_key_ = key;
  }
  return true;
}

void TraceHandler::NoteKey(std::string_view key) {
  if (key == "span_indx") facts_.other_program = "a profile of PaddlePaddle";
  constexpr size_t kLongestKey = 64;
  if (facts_.keys.size() < DocumentFacts::kMostKeys) {
    facts_.keys.emplace_back(Bounded(key, kLongestKey));
  }
}

bool TraceHandler::StartObject() {
  if (!Open(false)) return false;
  if (depth_ == 1) facts_.root_is_object = true;
  if (in_events_ && depth_ == event_depth_) {
    if (facts_.root_is_array) ++facts_.objects;
    pending_.Clear();
    field_ = Field::kNone;
    in_args_ = false;
  } else if (InEvent() && depth_ == event_depth_ + 1) {
    in_args_ = field_ == Field::kArgs;
    arg_ = Field::kNone;
  } else if (section_ == Section::kDevices && depth_ == 3) {
    trace_.devices.emplace_back();
  } else if (depth_ == 2) {
    if (top_key_ == "distributedInfo") section_ = Section::kDistributed;
    if (top_key_ == "perfgate_footer") {
      section_ = Section::kFooter;
      trace_.footer = true;
    }
  }
  return true;
}

bool TraceHandler::EndObject(unsigned) {
  if (in_events_ && depth_ == event_depth_) {
    Commit();
    in_args_ = false;
  } else if (InArgs() && depth_ == event_depth_ + 1) {
    in_args_ = false;
  }
  return Close(false);
}

bool TraceHandler::StartArray() {
  if (!Open(true)) return false;
  if (depth_ == 1) {
    facts_.root_is_array = in_events_ = true;
    event_depth_ = 2;
  } else if (depth_ == 2 && facts_.root_is_array) {
    ++facts_.lists;
  } else if (depth_ == 2 && top_key_ == "traceEvents") {
    in_events_ = facts_.events_are_a_list = true;
  } else if (depth_ == 2 && (top_key_ == "deviceProperties" || top_key_ == "computeProperties")) {
    section_ = Section::kDevices;
  } else if (InArgs() && depth_ == event_depth_ + 2) {
    shape_at_ = 0;
  }
  return true;
}

bool TraceHandler::EndArray(unsigned) {
  if (in_events_ && depth_ == event_depth_ - 1) {
    in_events_ = false;
    facts_.events_ended = true;
  }
  return Close(true);
}

bool TraceHandler::Open(bool array) {
  if (depth_ >= kDeepestNesting) {
    problem_ = fmt::format("nested deeper than {} levels", kDeepestNesting);
    return false;
  }
  if (InArgs() && InList() && depth_ > event_depth_) {
    Capture(array ? "[" : "{", false);
  }
  ++depth_;
  return true;
}

bool TraceHandler::Close(bool array) {
  --depth_;
  if (depth_ == 1) section_ = Section::kOther;
  if (InArgs() && InList() && depth_ > event_depth_) {
    List() += array ? "]" : "}";
    capture_comma_ = true;
  }
  return true;
}

// Input Dims and Input type as text, spelled the same by whatever writer.
void TraceHandler::Capture(std::string_view text, bool is_value) {
  std::string& list = List();
  if (depth_ == event_depth_ + 1) {
    list.clear();
    capture_comma_ = false;
  }
  if (list.size() > kLongestDims) return;
  if (capture_comma_) list += ", ";
  list += text;
  capture_comma_ = is_value;
}

bool TraceHandler::Scalar(std::string_view text, bool) {
  if (InEvent()) {
    if (depth_ == event_depth_) {
      EventScalar(text, false);
    } else if (in_args_) {
      ArgScalar(text, false);
    }
  } else if (in_events_) {
    ++not_objects_;
    if (facts_.root_is_array) ++facts_.others;
  } else if (depth_ == 1) {
    TopScalar(text);
  } else if (section_ != Section::kOther) {
    SectionScalar(text);
  }
  return true;
}

void TraceHandler::NoteField() {
  if (field_ == Field::kNone) return;
  const uint32_t bit = uint32_t{1} << static_cast<uint32_t>(field_);
  pending_.repeated |= (pending_.fields_seen & bit) != 0;
  pending_.fields_seen |= bit;
}

void TraceHandler::EventScalar(std::string_view text, bool lasts) {
  NoteField();
  switch (field_) {
    case Field::kPhase:
      pending_.phase.Set(Bounded(text, 8), lasts);
      break;
    case Field::kCategory:
      pending_.category.Set(Bounded(text, 64), lasts);
      break;
    case Field::kName:
      pending_.name.Set(Bounded(text, kLongestName), lasts);
      break;
    case Field::kProcess:
      pending_.process.Set(Bounded(text, 256), lasts);
      break;
    case Field::kThread:
      pending_.thread.Set(Bounded(text, 256), lasts);
      break;
    case Field::kStart:
    case Field::kDuration:
      KeepTime(ParseNanoseconds(text).value_or(kAbsent), text.find('.') != std::string_view::npos);
      break;
    default:
      break;
  }
}

void TraceHandler::SetTime(int64_t ns, bool has_fraction) {
  NoteField();
  KeepTime(ns, has_fraction);
}

void TraceHandler::KeepTime(int64_t ns, bool has_fraction) {
  if (field_ == Field::kDuration) {
    pending_.duration_ns = ns;
    return;
  }
  fractions_seen_ |= has_fraction;
  pending_.start_ns = ns > kLatestNs || ns < -kLatestNs ? kAbsent : ns;
}

void TraceHandler::ArgScalar(std::string_view text, bool lasts) {
  const int below = depth_ - event_depth_;
  if (InList()) {
    if (below > 1) Capture(text, true);
    return;
  }
  if (below == 2 && (arg_ == Field::kGrid || arg_ == Field::kBlock)) {
    auto& sizes = arg_ == Field::kGrid ? pending_.shape.grid : pending_.shape.block;
    const int64_t size = ParseInteger(text).value_or(0);
    if (shape_at_ < 3)
      sizes[shape_at_++] = static_cast<int32_t>(std::clamp<int64_t>(size, 0, INT32_MAX));
    return;
  }
  if (below != 1) return;
  switch (arg_) {
    case Field::kModuleHierarchy:
      pending_.module_hierarchy.Set(Bounded(text, kLongestDims), lasts);
      break;
    case Field::kFinished:
      pending_.finished = text != "false";
      break;
    case Field::kDevice:
    case Field::kStream:
      SetArg(LastNumber(text).value_or(kAbsent));
      break;
    default:
      SetArg(ParseInteger(text).value_or(kAbsent));
  }
}

// False: this argument is no number.
bool TraceHandler::SetArg(int64_t number) {
  switch (arg_) {
    case Field::kCorrelation:
      pending_.correlation = number;
      return true;
    case Field::kExternalId:
      pending_.external_id = number;
      return true;
    case Field::kBytes:
      pending_.bytes = number;
      return true;
    case Field::kCbid:
      pending_.cbid = number;
      return true;
    case Field::kSequence:
      pending_.sequence = number;
      return true;
    case Field::kForwardThread:
      pending_.forward_thread = number;
      return true;
    case Field::kDevice:
      pending_.device = number;
      return true;
    case Field::kFromDevice:
      if (pending_.device == kAbsent) pending_.device = number;
      return true;
    case Field::kStream:
      pending_.stream = number;
      return true;
    case Field::kDeviceType:
      pending_.device_type = number;
      return true;
    case Field::kDeviceId:
      pending_.device_id = number;
      return true;
    case Field::kTaskType:  // of the rows of Ascend's hardware, which have no category
      trace_.other_accelerator = kAscendAccelerator;
      return true;
    case Field::kRocprof:
      facts_.rocprof = true;
      return true;
    default:
      return false;
  }
}

void TraceHandler::TopScalar(std::string_view text) {
  if (top_key_ == "schema" || top_key_ == "$schema") facts_.schema = Bounded(text, 128);
  const auto flag = [&text] { return text == "1" || text == "true"; };
  const std::string value(Bounded(text, 256));
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
    if (sub_key_ == "name") device.name = Bounded(text, 256);
    if (sub_key_ == "numSms") device.sm_count = integer.value_or(0);
    if (sub_key_ == "totalGlobalMem") device.memory_bytes = integer.value_or(0);
  } else if (section_ == Section::kDistributed && depth_ == 2 && integer) {
    if (sub_key_ == "rank") trace_.rank = static_cast<int>(*integer);
    if (sub_key_ == "world_size") trace_.world_size = static_cast<int>(*integer);
  } else if (section_ == Section::kFooter && depth_ == 2) {
    if (sub_key_ == "records") trace_.footer_records = integer.value_or(kAbsent);
    if (sub_key_ == "dropped") trace_.footer_dropped = integer.value_or(kAbsent);
  }
}

}  // namespace perfgate
