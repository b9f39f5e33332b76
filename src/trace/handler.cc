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

// Cut between two characters of UTF-8.
std::string_view Bounded(std::string_view text, size_t longest) {
  if (text.size() <= longest) return text;
  const auto continues = [&text](size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  size_t length = longest;
  while (length + 4 > longest && length > 0 && continues(length)) --length;
  return text.substr(0, length);
}

}  // namespace

void PendingEvent::Clear() {
  for (FieldText* text : {&phase, &category, &name, &process, &thread, &module_hierarchy,
                          &collective, &message_dtype}) {
    text->Clear();
  }
  input_dims.clear();
  input_types.clear();
  signature = kNoSignature;
  start_ns = duration_ns = correlation = external_id = bytes = cbid = kAbsent;
  sequence = forward_thread = in_elements = out_elements = group_size = kAbsent;
  device = stream = device_type = device_id = kAbsent;
  shape = LaunchShape{};
  finished = true;
  fields_seen = 0;
  repeated = false;
}

bool TraceHandler::Key(const char* text, unsigned size, bool) {
  const std::string_view key = Bounded({text, size}, 256);
  if (InEvent()) {
    if (depth_ == event_depth_) {
      field_ = FieldOf(key);
      if (facts_.root_is_array && facts_.objects == 1) NoteKey(key);
    } else if (in_args_ && depth_ == event_depth_ + 1) {
      arg_ = ArgumentOf(key);
      shape_at_ = 0;
    }
  } else if (depth_ == 1) {
    top_key_ = key;
    NoteKey(key);
    facts_.events_keys += key == "traceEvents";
  } else if (section_ != Section::kOther) {
    sub_key_ = key;
  }
  return true;
}

bool TraceHandler::StartObject() {
  if (!Open(false)) return false;
  if (depth_ == 1) facts_.root_is_object = true;
  if (in_events_ && depth_ == event_depth_) {
    ++facts_.objects;
    pending_.Clear();
    field_ = Field::kNone;
    in_args_ = false;
  } else if (InEvent() && depth_ == event_depth_ + 1) {
    in_args_ = field_ == Field::kArgs;
    arg_ = Field::kNone;
  } else if (section_ == Section::kDevices && depth_ == 3) {
    constexpr size_t kMostDevices = 1024;
    if (trace_.devices.size() < kMostDevices) {
      trace_.devices.emplace_back();
    } else {
      section_ = Section::kOther;
    }
  } else if (depth_ == 2) {
    if (top_key_ == "distributedInfo") section_ = Section::kDistributed;
    if (top_key_ == "perfgate_environment") section_ = Section::kEnvironment;
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
  } else if (in_events_ && depth_ == event_depth_) {
    // Whatever it holds is no field of an event.
    field_ = Field::kNone;
    in_args_ = false;
    ++facts_.lists;
  } else if (depth_ == 2 && top_key_ == "traceEvents") {
    in_events_ = facts_.events_are_a_list = true;
  } else if (depth_ == 2 && (top_key_ == "deviceProperties" || top_key_ == "computeProperties")) {
    section_ = Section::kDevices;
  } else if (section_ == Section::kDevices && depth_ == 3) {
    section_ = Section::kOther;  // a list where a device should be
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
    ++facts_.others;
  } else if (depth_ == 1) {
    TopScalar(text);
  } else if (section_ != Section::kOther) {
    SectionScalar(text);
  }
  return true;
}

void TraceHandler::NoteField() {
  if (field_ == Field::kNone) return;
  const uint32_t bit = Bit(field_);
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
    case Field::kCollective:
      pending_.collective.Set(Bounded(text, 64), lasts);
      break;
    case Field::kMessageDtype:
      pending_.message_dtype.Set(Bounded(text, 64), lasts);
      break;
    case Field::kLabel:
      facts_.xla |= text == "/host:CPU" || text.starts_with("/device:GPU:") ||
                    text.starts_with("/device:TPU:");
      break;
    case Field::kFinished:
      pending_.finished = text != "false";
      break;
    case Field::kDevice:
    case Field::kStream:
      SetArg(ParseLastInteger(text).value_or(kAbsent));
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
    case Field::kInElements:
      pending_.in_elements = number;
      return true;
    case Field::kOutElements:
      pending_.out_elements = number;
      return true;
    case Field::kGroupSize:
      pending_.group_size = number;
      return true;
    case Field::kTaskType:  // of the rows of Ascend's hardware, which have no category
      trace_.other_accelerator = kAscendAccelerator;
      facts_.ascend = true;
      return true;
    case Field::kRocprof:
      facts_.rocprof = true;
      return true;
    default:
      return false;
  }
}

}  // namespace perfgate
