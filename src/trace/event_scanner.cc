#include "trace/event_scanner.h"

#include <algorithm>
#include <utility>

#include "trace/bytes.h"
#include "trace/hash.h"
#include "trace/json_walk.h"
#include "trace/reference.h"

namespace perfgate {
namespace {

// Tables beyond this are started anew, so that a file of all different names costs no second copy.
constexpr int64_t kLargestTables = int64_t{2} << 20;
// More unusual events than one in so many: the reference reader is as fast.
constexpr int64_t kUsualPerUnusual = 8;
constexpr int64_t kFewUnusual = 64;

// Behind the bracket that closes the object at `at`, nullptr if none does before `end`.
const char* FindObjectEnd(const char* at, const char* end) {
  int depth = 0;
  bool in_string = false;
  for (; at < end; ++at) {
    if (in_string) {
      if (*at == '\\') {
        ++at;
      } else {
        in_string = *at != '"';
      }
    } else if (*at == '"') {
      in_string = true;
    } else if (*at == '{' || *at == '[') {
      ++depth;
    } else if ((*at == '}' || *at == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return nullptr;
}

}  // namespace

const char* FindEvents(std::string_view json) {
  const char* at = SkipBlanks(json.data());
  if (*at != '{') return nullptr;
  at = SkipBlanks(at + 1);
  while (true) {
    const char* key = at;
    at = SkipPlainString(at);
    if (at == nullptr) return nullptr;
    const std::string_view name(key + 1, static_cast<size_t>(at - key) - 2);
    at = SkipBlanks(at);
    if (*at != ':') return nullptr;
    at = SkipBlanks(at + 1);
    if (name == "traceEvents") return *at == '[' ? at + 1 : nullptr;
    at = SkipJson(at);
    if (at == nullptr) return nullptr;
    at = SkipBlanks(at);
    if (*at != ',') return nullptr;
    at = SkipBlanks(at + 1);
  }
}

inline bool EventScanner::Gaps::Take(Entry* entry, const char* at) {
  if (entry == nullptr || !SameBytes32(entry->text.data(), at, entry->length)) return false;
  last_ = entry;
  field_ = entry->field;
  closed_ = entry->closed;
  return true;
}

inline const char* EventScanner::Gaps::Read(const char* at) {
  Entry* const before = last_;
  if (Take(before->next[0], at)) return at + last_->length;
  for (size_t i = 1; i < before->next.size(); ++i) {
    if (!Take(before->next[i], at)) continue;
    std::swap(before->next[0], before->next[i]);
    return at + last_->length;
  }
  return ReadAnew(at);
}

// Where this gap is kept, or may be.
EventScanner::Gaps::Entry* EventScanner::Gaps::PlaceOf(std::string_view gap) {
  constexpr size_t kProbes = 4;
  const bool first = last_ == entries_.data();
  const size_t from = first ? 1 : kFirstEntries;
  const size_t places = (first ? kFirstEntries : kEntries) - from - kProbes;
  Entry* const start = &entries_[from + HashBytes(gap) % places];
  for (Entry* entry = start; entry < start + kProbes; ++entry) {
    if (entry->length > kLongest) return entry;  // empty
    if (SameText({entry->text.data(), entry->length}, gap)) return entry;
  }
  return start;
}

const char* EventScanner::Gaps::ReadAnew(const char* at) {
  std::string_view key;
  const char* end = Parse(at, key);
  if (end == nullptr) return nullptr;
  const auto length = static_cast<size_t>(end - at);
  if (length > kLongest) {
    last_ = &long_gap_;
    if (!closed_) field_ = lookup_(key);
    return end;
  }
  Entry* const before = last_;
  Entry* const entry = PlaceOf({at, length});
  if (!Take(entry, at)) {
    *entry = {};
    std::copy(at, end, entry->text.begin());
    entry->length = length;
    entry->closed = closed_;
    if (!closed_) entry->field = lookup_(key);
    Take(entry, at);
  }
  std::copy_backward(before->next.begin(), before->next.end() - 1, before->next.end());
  before->next[0] = entry;
  return end;
}

const char* EventScanner::Gaps::Parse(const char* at, std::string_view& key) {
  const bool first = last_ == entries_.data();
  at = SkipBlanks(at);
  closed_ = *at == '}';
  if (closed_) return at + 1;
  if (!first) {
    if (*at != ',') return nullptr;
    at = SkipBlanks(at + 1);
  }
  const char* const quote = at;
  at = SkipPlainString(at);
  if (at == nullptr) return nullptr;
  key = {quote + 1, static_cast<size_t>(at - quote) - 2};
  at = SkipBlanks(at);
  return *at == ':' ? SkipBlanks(at + 1) : nullptr;
}

EventScanner::EventScanner() : handler_(trace_), event_gaps_(&FieldOf), arg_gaps_(&ArgumentOf) {
  handler_.EnterEvents();
}

void EventScanner::ForgetEvents() { trace_.events.Clear(); }

bool EventScanner::ForgetLargeTables() {
  if (trace_.texts.Bytes() < kLargestTables && trace_.shapes.size() < 10'000 &&
      trace_.signatures.size() < 20'000) {
    return false;
  }
  trace_.texts = TextTable();
  trace_.shapes.resize(1);
  trace_.messages.resize(1);
  trace_.signatures.resize(1);
  handler_.ForgetTables();
  known_signatures_.fill({});
  return true;
}

EventScanner::Result EventScanner::Scan(std::string_view window) {
  const char* const end = window.data() + window.size();
  const char* at = SkipBlanks(window.data());
  while (at < end) {
    if (*at == ']') return {true, at + 1};
    if (*at != '{') return {};
    const char* behind = ScanEvent(at);
    if (behind == nullptr) {
      handler_.EnterEvents();
      behind = ReadUnusual(at, end);
      if (behind == nullptr) return {};
    }
    at = SkipBlanks(behind);
    if (*at == ']') return {true, at + 1};
    if (*at != ',') return {};
    at = SkipBlanks(at + 1);
  }
  return {true, nullptr};
}

const char* EventScanner::ReadUnusual(const char* at, const char* end) {
  ++unusual_;
  if (unusual_ > kFewUnusual && unusual_ * kUsualPerUnusual > trace_.events_read) return nullptr;
  const char* behind = FindObjectEnd(at, end);
  if (behind == nullptr) return nullptr;
  const int64_t before = trace_.events_read;
  const std::string_view event(at, static_cast<size_t>(behind - at));
  return ReadClean(event, handler_) && trace_.events_read == before + 1 ? behind : nullptr;
}

inline const char* EventScanner::ScanEvent(const char* at) {
  handler_.pending_.Clear();
  handler_.depth_ = handler_.event_depth_;
  handler_.in_args_ = false;
  dims_ = types_ = nullptr;
  event_gaps_.Start();
  for (at = event_gaps_.Read(at + 1); at != nullptr; at = event_gaps_.Read(at)) {
    if (event_gaps_.closed()) {
      Commit();
      handler_.depth_ = handler_.event_depth_ - 1;
      return at;
    }
    at = ScanField(at, event_gaps_.field());
    if (at == nullptr) break;
  }
  return nullptr;
}

inline const char* EventScanner::ScanField(const char* at, Field field) {
  handler_.field_ = field;
  int64_t ns = 0;
  switch (field) {
    case Field::kNone:
      return SkipValue(at);
    case Field::kArgs:
      return *at == '{' ? ScanArgs(at) : FeedJson(at, handler_);
    case Field::kStart:
    case Field::kDuration:
      if (const char* end = ReadUsualTime(at, ns); end != nullptr) {
        handler_.SetTime(ns, true);
        return end;
      }
      break;
    default:
      break;
  }
  const char* end = nullptr;
  std::string_view text;
  if (*at == '"') {
    end = SkipPlainString(at);
    if (end == nullptr) return nullptr;
    text = {at + 1, static_cast<size_t>(end - at) - 2};
  } else {
    end = SkipNumber(at);
    if (end == nullptr) return FeedJson(at, handler_);
    text = {at, static_cast<size_t>(end - at)};
  }
  handler_.EventScalar(text, true);
  return end;
}

inline const char* EventScanner::ScanArgs(const char* at) {
  handler_.in_args_ = true;
  ++handler_.depth_;
  arg_gaps_.Start();
  for (at = arg_gaps_.Read(at + 1); at != nullptr; at = arg_gaps_.Read(at)) {
    if (arg_gaps_.closed()) {
      --handler_.depth_;
      handler_.in_args_ = false;
      return at;
    }
    const Field field = arg_gaps_.field();
    at = field == Field::kNone ? SkipValue(at) : ScanArg(at, field);
    if (at == nullptr) break;
  }
  return nullptr;
}

inline const char* EventScanner::ScanArg(const char* at, Field field) {
  handler_.arg_ = field;
  handler_.shape_at_ = 0;
  if (field == Field::kInputDims) return KeepList(at, dims_memo_, dims_);
  if (field == Field::kInputTypes) return KeepList(at, types_memo_, types_);
  if (*at == '[') return FeedJson(at, handler_);
  int64_t number = 0;
  const char* end = ReadShortInteger(at, number);
  if (end != nullptr && handler_.SetArg(number)) return end;
  return FeedJson(at, handler_);
}

// A value that is of no use.
inline const char* EventScanner::SkipValue(const char* at) {
  if (*at != '[' && *at != '{') return SkipJson(at);
  const char* end = FindListEnd(at);
  if (end == nullptr) return SkipJson(at);
  const std::string_view list(at, static_cast<size_t>(end - at));
  ListMemo::Entry& entry = useless_.At(list);
  if (entry.id != 0) return end;
  if (SkipJson(at) != end) return nullptr;
  useless_.Remember(entry, list, "");
  return end;
}

// A list that the handler keeps as text.
inline const char* EventScanner::KeepList(const char* at, ListMemo& memo,
                                          const ListMemo::Entry*& kept) {
  if (kept != nullptr) return nullptr;  // said twice
  const char* end = *at == '[' ? FindListEnd(at) : nullptr;
  if (end == nullptr) return FeedJson(at, handler_);
  const std::string_view list(at, static_cast<size_t>(end - at));
  ListMemo::Entry& entry = memo.At(list);
  if (entry.id == 0) {
    if (FeedJson(at, handler_) != end) return nullptr;
    memo.Remember(entry, list, handler_.List());
  }
  kept = &entry;
  return end;
}

// What was remembered of the lists, in the handler's own words.
inline void EventScanner::SpellLists() {
  if (dims_ != nullptr) handler_.pending_.input_dims = dims_->text;
  if (types_ != nullptr) handler_.pending_.input_types = types_->text;
}

inline void EventScanner::Commit() {
  PendingEvent& pending = handler_.pending_;
  const bool remembered =
      dims_ != nullptr && types_ != nullptr && pending.module_hierarchy.Get().empty();
  if (!remembered) {
    SpellLists();
    handler_.Commit();
    return;
  }
  KnownSignature& known = known_signatures_[(dims_->id * 31 + types_->id) % kKnownSignatures];
  if (known.dims == dims_->id && known.types == types_->id) {
    pending.signature = known.index;
    handler_.Commit();
    return;
  }
  SpellLists();
  const size_t before = trace_.events.size();
  const int64_t mended = handler_.not_utf8_;
  handler_.Commit();
  // What is mended is told each time, so it is not remembered.
  if (trace_.events.size() == before || handler_.not_utf8_ != mended) return;
  const TraceEvent& event = trace_.events[before];
  if (event.kind == EventKind::kOperator) known = {dims_->id, types_->id, event.detail};
}

}  // namespace perfgate
