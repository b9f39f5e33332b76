// Takes the parser's events, keeps what evidence needs and counts the rest.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/identify.h"
#include "trace/trace.h"

namespace perfgate {

// The fields of one trace event as they were met, in whatever order.
struct PendingEvent {
  std::string phase, category, name, process, thread;
  std::string input_dims, input_types, module_hierarchy;
  int64_t start_ns = kAbsent, duration_ns = kAbsent;
  int64_t correlation = kAbsent, external_id = kAbsent, bytes = kAbsent, cbid = kAbsent;
  int64_t sequence = kAbsent, forward_thread = kAbsent;
  int64_t device = kAbsent, stream = kAbsent, device_type = kAbsent, device_id = kAbsent;
  LaunchShape shape;
  bool finished = true;

  void Clear();
};

class TraceHandler {
 public:
  explicit TraceHandler(TraceData& trace) : trace_(trace) {}

  // RapidJSON's handler interface. False stops the parser; `problem` says why.
  bool Null() { return Scalar({}, false); }
  bool Bool(bool value) { return Scalar(value ? "true" : "false", false); }
  bool RawNumber(const char* text, unsigned size, bool) { return Scalar({text, size}, false); }
  bool String(const char* text, unsigned size, bool) { return Scalar({text, size}, true); }
  bool Key(const char* text, unsigned size, bool);
  bool StartObject();
  bool EndObject(unsigned);
  bool StartArray();
  bool EndArray(unsigned);
  // Never called: numbers come as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

  // After the last event of the parser.
  void Finish();
  const DocumentFacts& facts() const { return facts_; }
  const std::string& problem() const { return problem_; }

  // For reading the events of one document in parts. EnterEvents(): the next thing to come is an
  // event of a `traceEvents` list, whatever came before. Add(): what `part` counted counts here;
  // false if the order of its events would matter. ForgetTables(): the trace's shapes and signatures
  // were emptied. The others give the trace's index of what is looked for.
  void EnterEvents();
  bool Add(const TraceHandler& part);
  void ForgetTables();
  uint32_t ShapeIndex(const LaunchShape& shape);
  uint32_t SignatureIndex(const OperatorSignature& signature);

 private:
  friend class EventScanner;  // knows which fields are of use, and skips the others

  static constexpr size_t kMostReasons = 64;

  enum class Field : uint8_t {
    kNone,
    kPhase,
    kCategory,
    kName,
    kProcess,
    kThread,
    kStart,
    kDuration,
    kArgs,
    kCorrelation,
    kExternalId,
    kBytes,
    kCbid,
    kDevice,
    kStream,
    kDeviceType,
    kDeviceId,
    kInputDims,
    kInputTypes,
    kModuleHierarchy,
    kSequence,
    kForwardThread,
    kGrid,
    kBlock,
    kFromDevice,
    kFinished,
    kRocprof,
  };
  enum class Section : uint8_t { kOther, kDevices, kDistributed, kFooter };

  static Field EventField(std::string_view key);
  static Field ArgField(std::string_view key);

  bool InEvent() const { return in_events_ && depth_ >= event_depth_; }
  bool InArgs() const { return InEvent() && in_args_; }
  bool Open(bool array);
  bool Close(bool array);
  bool Scalar(std::string_view text, bool is_string);
  void EventScalar(std::string_view text);
  void ArgScalar(std::string_view text);
  void TopScalar(std::string_view text);
  void SectionScalar(std::string_view text);
  bool InList() const { return arg_ == Field::kInputDims || arg_ == Field::kInputTypes; }
  std::string& List() {
    return arg_ == Field::kInputDims ? pending_.input_dims : pending_.input_types;
  }
  void Capture(std::string_view text, bool is_value);
  void NoteKey(std::string_view key);
  void NoteLeftOut();

  void Commit();
  void Keep(EventKind kind);
  void KeepGpuPlace(TraceEvent& event) const;
  void KeepSignature(TraceEvent& op);
  void LeaveOut(std::string_view reason) { ++LeftOut(reason); }
  int64_t& LeftOut(std::string_view reason);
  uint32_t Text(std::string_view text);
  void Warn(int64_t count, std::string_view what);

  TraceData& trace_;
  DocumentFacts facts_;
  PendingEvent pending_;
  std::string problem_;

  int depth_ = 0;
  int event_depth_ = 3;  // of an event object; 2 in a top-level list
  bool in_events_ = false, in_args_ = false;
  Section section_ = Section::kOther;
  std::string top_key_, sub_key_;
  Field field_ = Field::kNone, arg_ = Field::kNone;
  int shape_at_ = 0;
  bool capture_comma_ = false;

  std::map<LaunchShape, uint32_t> shapes_;
  std::map<OperatorSignature, uint32_t> signatures_;
  std::map<std::string, int64_t, std::less<>> left_out_;
  bool fractions_seen_ = false;
  int64_t kept_ = 0, without_start_ = 0, negative_ = 0, unfinished_ = 0, not_utf8_ = 0,
          not_objects_ = 0;
};

}  // namespace perfgate
