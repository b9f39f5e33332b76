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

  // Events of the last window; texts, shapes and signatures of all windows since the tables were
  // last emptied.
  const TraceData& trace() const { return trace_; }
  const TraceHandler& handler() const { return handler_; }
  // Forgets all events; before the next window.
  void ForgetEvents();
  // Forgets texts, shapes and signatures if they have grown large. True if it did.
  bool ForgetLargeTables();

 private:
  using Field = EventField;

  // What stands between two values of an object: blanks, a comma, a key, a colon; or the bracket
  // that closes it. Writers repeat themselves: each gap remembers the last few that followed it.
  class Gaps {
   public:
    using Lookup = Field (*)(std::string_view key);
    explicit Gaps(Lookup lookup) : lookup_(lookup) {}
    // An object was opened.
    void Start() { last_ = entries_.data(); }
    // Returns the next value, or what stands behind the object if that is closed(). nullptr: this
    // is nothing that may stand here.
    const char* Read(const char* at);
    Field field() const { return field_; }  // of the key
    bool closed() const { return closed_; }

   private:
    static constexpr size_t kLongest = 32;
    static constexpr size_t kEntries = 512, kFirstEntries = 64;
    struct Entry {
      std::array<char, kLongest> text{};
      size_t length = kLongest + 1;  // matches nothing
      std::array<Entry*, 4> next{};  // the gaps that followed, the last one first
      Field field = Field::kNone;
      bool closed = false;
    };
    bool Take(Entry* entry, const char* at);
    Entry* PlaceOf(std::string_view gap);
    const char* ReadAnew(const char* at);
    const char* Parse(const char* at, std::string_view& key);

    Lookup lookup_;
    // [0]: before the first gap of an object. Up to kFirstEntries: gaps that follow it, so that a
    // gap without comma is never taken for a later one.
    std::array<Entry, kEntries> entries_{};
    Entry long_gap_;  // stands for all that are longer than an entry
    Entry* last_ = entries_.data();
    Field field_ = Field::kNone;
    bool closed_ = false;
  };

  // Signatures by the lists that they are made of.
  struct KnownSignature {
    uint32_t dims = 0, types = 0;  // ListMemo's ids
    uint32_t index = PendingEvent::kNoSignature;
  };
  static constexpr size_t kKnownSignatures = 1024;

  const char* ScanEvent(const char* at);
  const char* ScanField(const char* at, Field field);
  const char* ScanArgs(const char* at);
  const char* ScanArg(const char* at, Field field);
  const char* SkipValue(const char* at);
  const char* KeepList(const char* at, ListMemo& memo, const ListMemo::Entry*& kept);
  const char* ReadUnusual(const char* at, const char* end);
  void Commit();
  void SpellLists();

  TraceData trace_;
  TraceHandler handler_;
  Gaps event_gaps_, arg_gaps_;
  ListMemo useless_, dims_memo_, types_memo_;
  const ListMemo::Entry* dims_ = nullptr;  // of the event at hand; nullptr: none, or in the handler
  const ListMemo::Entry* types_ = nullptr;
  std::array<KnownSignature, kKnownSignatures> known_signatures_{};
  int64_t unusual_ = 0;
};

}  // namespace perfgate
