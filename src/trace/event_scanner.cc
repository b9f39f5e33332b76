#include "trace/event_scanner.h"

#include <algorithm>

#include "trace/bytes.h"
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

TraceHandler::Field EventScanner::Keys::Find(const char* key, size_t length) {
  if (length < kShortest || length > kLongest) return lookup_({key, length});
  std::array<uint64_t, 4> words{};
  if (length < 8) {
    words[0] = LoadWord(key) << (64 - 8 * length);
  } else {
    words = {LoadWord(key), LoadWord(key + std::min<size_t>(8, length - 8)),
             LoadWord(key + std::min<size_t>(16, length - 8)), LoadWord(key + length - 8)};
  }
  const uint64_t hash = (words[0] ^ (words[3] >> 7) ^ length) * 0x9E3779B97F4A7C15;
  Entry& entry = entries_[hash >> 56];
  static_assert(kEntries == 256);
  if (entry.length != length || entry.words != words) {
    entry = {words, length, lookup_({key, length})};
  }
  return entry.field;
}

EventScanner::EventScanner()
    : handler_(trace_), event_keys_(&TraceHandler::EventField), arg_keys_(&TraceHandler::ArgField) {
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
  trace_.signatures.resize(1);
  handler_.ForgetTables();
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

// Key and colon of a member; returns its value.
inline const char* EventScanner::ScanMember(const char* at, Keys& keys, Field& field) {
  if (*at != '"') return nullptr;
  const char* quote = FindStringStop(at + 1);
  if (*quote != '"') return nullptr;
  field = keys.Find(at + 1, static_cast<size_t>(quote - at) - 1);
  at = SkipBlanks(quote + 1);
  return *at == ':' ? SkipBlanks(at + 1) : nullptr;
}

const char* EventScanner::ScanEvent(const char* at) {
  handler_.StartObject();
  at = SkipBlanks(at + 1);
  while (true) {
    Field field = Field::kNone;
    at = ScanMember(at, event_keys_, field);
    if (at == nullptr) return nullptr;
    if (field == Field::kNone) {
      at = ScanValue(at, false);
    } else {
      handler_.field_ = field;
      at = field == Field::kArgs && *at == '{' ? ScanArgs(at) : FeedJson(at, handler_);
    }
    if (at == nullptr) return nullptr;
    at = SkipBlanks(at);
    if (*at == '}') break;
    if (*at != ',') return nullptr;
    at = SkipBlanks(at + 1);
  }
  handler_.EndObject(0);
  return at + 1;
}

const char* EventScanner::ScanArgs(const char* at) {
  handler_.StartObject();
  at = SkipBlanks(at + 1);
  while (*at != '}') {
    Field field = Field::kNone;
    at = ScanMember(at, arg_keys_, field);
    if (at == nullptr) return nullptr;
    if (field == Field::kNone) {
      at = ScanValue(at, false);
    } else {
      handler_.arg_ = field;
      handler_.shape_at_ = 0;
      const bool list = *at == '[' && handler_.InList();
      at = list ? ScanValue(at, true) : FeedJson(at, handler_);
    }
    if (at == nullptr) return nullptr;
    at = SkipBlanks(at);
    if (*at == '}') break;
    if (*at != ',') return nullptr;
    at = SkipBlanks(at + 1);
    if (*at == '}') return nullptr;
  }
  handler_.EndObject(0);
  return at + 1;
}

// A value that is of no use, or (`is_list`) a list that the handler keeps as text.
inline const char* EventScanner::ScanValue(const char* at, bool is_list) {
  if (*at != '[' && *at != '{') return SkipJson(at);
  const char* behind = FindListEnd(at);
  if (behind == nullptr) return is_list ? FeedJson(at, handler_) : SkipJson(at);
  ListMemo::Entry& entry = lists_.At({at, static_cast<size_t>(behind - at)});
  const bool known = !entry.raw.empty();
  if (known && !is_list) return behind;
  if (known && entry.has_text) {
    handler_.List() = entry.text;
    return behind;
  }
  if ((is_list ? FeedJson(at, handler_) : SkipJson(at)) != behind) return nullptr;
  entry.raw.assign(at, static_cast<size_t>(behind - at));
  entry.has_text = is_list;
  if (is_list) entry.text = handler_.List();
  return behind;
}

}  // namespace perfgate
