// A trace in Kineto's schema, written as it grows: one event a line, and at the end a footer that
// says that the file is whole.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "cupti/config.h"

namespace perfgate::cupti {

// What the footer says of the recording.
struct Ending {
  int64_t dropped = 0;   // records that CUPTI lost
  int64_t drain_ns = 0;  // from the end of the window to the last record
  std::string fault;     // why the trace is no whole evidence; "" if it is
};

class TraceFile {
 public:
  ~TraceFile();

  // Makes trace.json, trace-rankN.json for a rank, or, where that name is taken by another process,
  // the same with "-pidN", in the folder. Returns "" or what went wrong.
  std::string Create(const Config& config);
  // Keys that stand before the events: `"key":value,` each.
  void Begin(std::string_view keys);
  void Event(std::string_view object);
  // Keys that stand behind the events, then the footer; closes the file.
  void End(std::string_view keys, const Ending& ending);
  // Ends a file that has ended once more, with other words.
  void EndAnew(std::string_view keys, const Ending& ending);
  // So that nobody takes it for evidence.
  void Remove();

  int64_t events() const { return events_; }
  // What went wrong with writing; "" if nothing did.
  const std::string& error() const { return error_; }

 private:
  void Put(std::string_view text);
  void Flush();

  int fd_ = -1;
  std::string path_, buffer_, error_;
  int64_t events_ = 0;
  off_t events_end_ = 0;  // where the events stop in the file
};

// Leaves no-trace-pidN.txt, one line that says why this process wrote no trace. Errors are ignored.
void WriteNoTrace(const Config& config, std::string_view reason);

}  // namespace perfgate::cupti
