// The collector of one process: attaches to CUPTI, opens the window, records, closes, writes.
//
//   idle ──► primed ──► open ──► draining ──► closed
//
// primed: recording is on, so that it is warm, but the window has not begun. draining: the window
// is over and its calls are all recorded; work that they launched may still run. While it is open
// filled buffers are put aside and nothing else is done, so that the program is held up as little
// as can be; a worker thread reads them and writes the file when the window is over, or before that
// when few buffers are left. The file is whole soon after the window, long before the process ends.
// Nothing of CUPTI is called with a lock held, and nothing is ever freed.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cupti/buffer_pool.h"
#include "cupti/calls.h"
#include "cupti/config.h"
#include "cupti/cupti_api.h"
#include "cupti/recorder.h"
#include "cupti/step_counter.h"
#include "cupti/trace_file.h"
#include "cupti/wakeup.h"

namespace perfgate::cupti {

// A range that a thread is inside of.
struct OpenRange {
  bool counted = false;               // it may be a step
  int64_t step = -1;                  // its number in the window
  int64_t start_ns = 0;               // 0: not recorded
  const std::string* name = nullptr;  // the collector's own, for good
  uint32_t thread = 0;
};

class Collector {
 public:
  explicit Collector(Config config);

  // When CUDA starts. Says on standard error what stands in the way.
  void Attach();
  // Ends the window, if it is open, and returns when the file is whole, or after 10 s at most; then
  // does nothing and returns false. Async-signal-safe: the worker does all of it.
  bool Finish() noexcept;
  // Finish() was called for an end that did not come: the file becomes incomplete.
  void SayEndedTooEarly() noexcept;
  // For programs that mark ranges; any thread.
  OpenRange BeginRange(const char* name);
  void EndRange(const OpenRange& range);

  bool attached() const { return attached_.load(); }

 private:
  enum class Phase { kIdle, kPrimed, kOpen, kDraining, kClosed };

  static void CUPTIAPI OnRequest(uint8_t** buffer, size_t* size, size_t* most_records);
  static void CUPTIAPI OnComplete(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                                  size_t used);
  static void CUPTIAPI OnCallback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                  const void* data);
  static void* RunWorker(void* self);

  // "" or what stands in the way.
  std::string Prepare();
  // Only while something is recorded: a subscriber makes each call of the program dearer, a launch
  // by 4 %, even if it hears of none.
  std::string Subscribe();
  void WatchResets();
  std::string StartWorker();
  void Refuse(const std::string& reason);

  Phase phase() const { return phase_.load(); }
  bool UsesCuda() const;
  int64_t Now() const;
  void NoteRange(const char* name);
  // Switches recording on for the phase that was entered, if CUPTI is there and it is not on yet.
  void StartRecording();
  // Under the lock. A window that is over stays so.
  void Advance(Phase next);
  // Closes the window at this instant, with a fault or without; the first caller's word counts.
  void Close(int64_t now_ns, const std::string& fault);
  std::string WhyUnfinished(int64_t ended_ns);
  std::string WhyNeverOpened();

  // The worker's own.
  void Work();
  int PauseMs() const;
  void KeepTime();
  void CloseAtEnd();
  void Flush(uint32_t flag);
  // An open window is left alone: what is filled stays so until it is over or few are ready.
  std::vector<FilledBuffer> TakeBuffers();
  void ReadBuffers();
  void WriteRanges();
  void BeginFile();
  void Drain();
  bool IsDrained();
  void EndFile();
  // What the trace lacks, once all was read; "" if nothing.
  std::string WhyIncomplete();

  const Config config_;
  CuptiApi api_;
  std::optional<CallTables> calls_;
  CUpti_SubscriberHandle subscriber_{};
  BufferPool pool_;
  Wakeup wakeup_;

  std::atomic<Phase> phase_{Phase::kIdle};
  std::atomic<bool> attached_{false};
  std::atomic<bool> context_created_{false};
  std::atomic<bool> calls_off_{false};       // of a window that was closed
  std::atomic<int64_t> finish_asked_ns_{0};  // of the monotonic clock; 0: the process goes on
  std::atomic<bool> done_{false};            // nothing is left to do

  std::mutex mutex_;  // of what follows
  StepCounter steps_;
  bool recording_ = false;
  int64_t opened_ns_ = INT64_MAX, closed_ns_ = INT64_MAX;
  uint32_t step_thread_ = 0;
  std::string fault_;
  std::vector<Range> ranges_;  // ended, not yet written
  std::set<std::string, std::less<>> names_;
  std::map<std::string, int64_t, std::less<>> seen_;  // ranges before the window, to be named
  int64_t noted_ = 0;

  // The worker's own.
  TraceFile file_;
  std::optional<Recorder> recorder_;
  bool file_begun_ = false;
  int64_t attached_ns_ = 0, base_ns_ = 0;
  int64_t dropped_ = 0;
  int quiet_rounds_ = 0;
  int64_t drain_began_ns_ = 0;
  Ending ending_;
};

}  // namespace perfgate::cupti
