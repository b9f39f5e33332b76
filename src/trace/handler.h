// Takes the parser's events, keeps what evidence needs and counts the rest.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event_fields.h"
#include "trace/identify.h"
#include "trace/trace.h"

namespace perfgate {

// A text of the event at hand: a copy, or a view of what outlives the event.
class FieldText {
 public:
  void Set(std::string_view text, bool lasts) {
    if (!lasts) {
      copy_ = text;
      text = copy_;
    }
    view_ = text;
  }
  void Clear() { view_ = {}; }
  operator std::string_view() const { return view_; }
  std::string_view Get() const { return view_; }

 private:
  std::string copy_;
  std::string_view view_;
};

inline constexpr std::string_view kMtiaAccelerator = "an MTIA accelerator";
inline constexpr std::string_view kAscendAccelerator = "an Ascend accelerator (NPU)";

// The fields of one trace event as they were met, in whatever order.
struct PendingEvent {
  static constexpr uint32_t kNoSignature = UINT32_MAX;

  FieldText phase, category, name, process, thread, module_hierarchy;
  std::string input_dims, input_types;
  uint32_t signature = kNoSignature;  // stands for the three texts, where it is known already
  int64_t start_ns = kAbsent, duration_ns = kAbsent;
  int64_t correlation = kAbsent, external_id = kAbsent, bytes = kAbsent, cbid = kAbsent;
  int64_t sequence = kAbsent, forward_thread = kAbsent;
  int64_t device = kAbsent, stream = kAbsent, device_type = kAbsent, device_id = kAbsent;
  LaunchShape shape;
  FieldText collective, message_dtype;
  int64_t in_elements = kAbsent, out_elements = kAbsent, group_size = kAbsent;
  bool finished = true;
  uint32_t fields_seen = 0;  // bits of event fields that were met
  bool repeated = false;     // one of them twice

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
  // false if the order of its events would matter. ForgetTables(): the trace's shapes, messages and
  // signatures were emptied. The others give the trace's index of what is looked for.
  void EnterEvents();
  bool Add(const TraceHandler& part);
  void ForgetTables();
  uint32_t ShapeIndex(const LaunchShape& shape);
  uint32_t MessageIndex(const Message& message);
  uint32_t SignatureIndex(const OperatorSignature& signature);

 private:
  friend class EventScanner;  // knows which fields are of use, and skips the others

  static constexpr size_t kMostReasons = 64;

  using Field = EventField;
  enum class Section : uint8_t { kOther, kDevices, kDistributed, kEnvironment, kFooter };

  bool InEvent() const { return in_events_ && depth_ >= event_depth_; }
  bool InArgs() const { return InEvent() && in_args_; }
  bool Open(bool array);
  bool Close(bool array);
  bool Scalar(std::string_view text, bool is_string);
  // `lasts`: the text outlives the event.
  void EventScalar(std::string_view text, bool lasts);
  // Two events whose border was lost have a field twice.
  void NoteField();
  static uint32_t Bit(Field field) { return uint32_t{1} << static_cast<uint32_t>(field); }
  void KeepTime(int64_t ns, bool has_fraction);
  void SetTime(int64_t ns, bool has_fraction);
  void ArgScalar(std::string_view text, bool lasts);
  bool SetArg(int64_t number);
  void TopScalar(std::string_view text);
  void SectionScalar(std::string_view text);
  bool InList() const { return arg_ == Field::kInputDims || arg_ == Field::kInputTypes; }
  std::string& List() {
    return arg_ == Field::kInputDims ? pending_.input_dims : pending_.input_types;
  }
  void Capture(std::string_view text, bool is_value);
  void NoteKey(std::string_view key);

  // Why events are left out: "flow arrows" or, of a single one, "flow arrow", and what `why` says.
  struct Reason {
    std::string one, many, why;
    std::string Of(int64_t count) const { return (count == 1 ? one : many) + why; }
    friend auto operator<=>(const Reason&, const Reason&) = default;
  };
  // What is known of the events of one phase and category; nothing: no writer of traces has it.
  static std::optional<Reason> KnownReason(std::string_view category, std::string_view phase);
  static Reason ReasonToLeaveOut(std::string_view category, std::string_view phase);

  // What becomes of the events of one phase and category.
  struct Sort {
    std::string phase, category;
    bool known = false;
    bool of_kineto = false;         // no other program calls its events so
    std::optional<EventKind> kind;  // of those that are kept, unless their name says otherwise
    int64_t* left_out = nullptr;    // counts the others
    int64_t* fact = nullptr;        // and so does this one
  };
  static constexpr size_t kSorts = 64;
  // The last text of its kind; most events repeat it.
  struct RecentText {
    std::string text;
    uint32_t index = 0;
  };

  const Sort& SortOfPending();
  void Classify(Sort& sort);
  int64_t* FactOfLeftOut(std::string_view category, std::string_view phase);
  void Commit();
  void Keep(EventKind kind);
  void KeepGpuPlace(TraceEvent& event) const;
  void KeepSignature(TraceEvent& op);
  void KeepShape(TraceEvent& kernel);
  int64_t& LeftOut(Reason reason);
  uint32_t Text(std::string_view text);
  uint32_t Text(std::string_view text, RecentText& recent);
  std::string LostEvents() const;
  void Warn(int64_t count, std::string_view one, std::string_view many);

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

  std::array<Sort, kSorts> sorts_;
  RecentText process_, thread_;
  std::map<LaunchShape, uint32_t> shapes_;
  std::map<Message, uint32_t> messages_;
  std::map<OperatorSignature, uint32_t> signatures_;
  std::map<Reason, int64_t> left_out_;
  bool fractions_seen_ = false;
  int64_t kept_ = 0, without_start_ = 0, negative_ = 0, unfinished_ = 0, not_utf8_ = 0,
          not_objects_ = 0, merged_ = 0, lost_ = 0, nameless_ = 0, uncounted_ = 0;
};

}  // namespace perfgate
