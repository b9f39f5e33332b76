// The fast road through the list of events. Only the reading of JSON is done anew here: what a
// field means, what is kept and what is counted stays with TraceHandler, which this feeds by hand.
// An event that is not plain JSON of the usual kind is left to RapidJSON behind the repairing
// filter.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trace/handler.h"
#include "trace/list_memo.h"
#include "trace/trace.h"

namespace perfgate {

// Where the list of events begins: behind the bracket after the top-level key "traceEvents".
// nullptr if it is not found by strict reading. `json` ends with kPaddingBytes zero bytes.
const char* FindEvents(std::string_view json);

class EventScanner {
 public:
  EventScanner();
  EventScanner(const EventScanner&) = delete;
  EventScanner& operator=(const EventScanner&) = delete;

  struct Result {
    bool read = false;               // as the reference reader would read it
    const char* list_end = nullptr;  // behind the bracket that closes the list, if that was met
  };

  // Reads events up to the end of `window` or of the list; the window begins where an event may
  // begin and ends with kPaddingBytes zero bytes. What it found is in trace() and handler().
  Result Scan(std::string_view window);

  // Events of the last window; texts, shapes and signatures of all windows since StartTables().
  const TraceData& trace() const { return trace_; }
  const TraceHandler& handler() const { return handler_; }
  // Forgets all events; before the next window.
  void ForgetEvents();
  // Forgets texts, shapes and signatures if they have grown large. True if it did.
  bool ForgetLargeTables();

 private:
  using Field = TraceHandler::Field;

  // Fields by the bytes of their key.
  class Keys {
   public:
    using Lookup = Field (*)(std::string_view key);
    explicit Keys(Lookup lookup) : lookup_(lookup) {}
    Field Find(const char* key, size_t length);

   private:
    static constexpr size_t kShortest = 2, kLongest = 32, kEntries = 256;
    struct Entry {
      std::array<uint64_t, 4> words{};
      size_t length = 0;
      Field field = Field::kNone;
    };
    Lookup lookup_;
    std::array<Entry, kEntries> entries_{};
  };

  const char* ScanEvent(const char* at);
  const char* ScanMember(const char* at, Keys& keys, Field& field);
  const char* ScanArgs(const char* at);
  const char* ScanValue(const char* at, bool is_list);
  const char* ReadUnusual(const char* at, const char* end);

  TraceData trace_;
  TraceHandler handler_;
  Keys event_keys_, arg_keys_;
  ListMemo lists_;
  int64_t unusual_ = 0;
};

}  // namespace perfgate
