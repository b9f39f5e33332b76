#include <algorithm>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "trace/event_scanner.h"
#include "trace/reference.h"
#include "trace/windows.h"

namespace perfgate {
namespace {

// Takes the windows' events into the trace, in the order of the file.
class OrderedCommit {
 public:
  explicit OrderedCommit(TraceData& trace) : trace_(trace), handler_(trace) {}

  // Waits for the turn of window `number`. False: another one failed.
  bool Await(int64_t number) {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return failed_ || next_ == number; });
    return !failed_;
  }
  void Done() {
    const std::lock_guard lock(mutex_);
    ++next_;
    turn_.notify_all();
  }
  void Fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    turn_.notify_all();
  }
  bool failed() const { return failed_; }

  TraceData& trace() { return trace_; }
  TraceHandler& handler() { return handler_; }
  std::string footer;  // what follows the list of events

 private:
  TraceData& trace_;
  TraceHandler handler_;
  std::mutex mutex_;
  std::condition_variable turn_;
  int64_t next_ = 0;
  bool failed_ = false;
};

// The worker's number of a text, shape or signature -> the trace's, as they are met.
class Renumbered {
 public:
  static constexpr uint32_t kNew = UINT32_MAX;
  void Clear() { numbers_.assign(1, 0); }
  uint32_t& operator[](uint32_t local) {
    if (local >= numbers_.size())
      numbers_.resize(std::max<size_t>(local + 1, 2 * numbers_.size()), kNew);
    return numbers_[local];
  }

 private:
  std::vector<uint32_t> numbers_{0};
};

class Worker {
 public:
  Worker(WindowQueue& queue, OrderedCommit& commit) : queue_(queue), commit_(commit) {}

  void Run() {
    // However this ends, nobody waits for a window that never comes.
    struct Guard {
      Worker& worker;
      ~Guard() {
        if (!worker.finished_) {
          worker.queue_.Fail();
          worker.commit_.Fail();
        }
      }
    } guard{*this};
    while (queue_.Next(window_)) {
      if (!ReadWindow()) return;
    }
    finished_ = !queue_.failed();
  }

  const TraceHandler& handler() const { return scanner_.handler(); }
  const TraceData& read() const { return scanner_.trace(); }

 private:
  bool ReadWindow() {
    scanner_.ForgetEvents();
    const EventScanner::Result result = scanner_.Scan(window_.Text());
    if (!result.read || (result.list_end != nullptr) != window_.last) return false;
    if (!commit_.Await(window_.number)) return false;
    Take();
    if (window_.last) {
      const char* end = window_.Text().data() + window_.size;
      commit_.footer.assign(result.list_end, static_cast<size_t>(end - result.list_end));
    }
    commit_.Done();
    if (scanner_.ForgetLargeTables()) {
      texts_.Clear();
      shapes_.Clear();
      signatures_.Clear();
    }
    return true;
  }

  void Take() {
    const EventList& events = scanner_.trace().events;
    for (size_t i = 0; i < events.size(); ++i) {
      TraceEvent event = events[i];
      event.name = Text(event.name);
      event.process = Text(event.process);
      event.thread = Text(event.thread);
      if (event.kind == EventKind::kOperator) event.detail = Signature(event.detail);
      if (event.kind == EventKind::kKernel) event.detail = Shape(event.detail);
      commit_.trace().events.Push(event);
    }
  }

  uint32_t Text(uint32_t local) {
    uint32_t& number = texts_[local];
    if (number == Renumbered::kNew) {
      number = commit_.trace().texts.Intern(scanner_.trace().Text(local));
    }
    return number;
  }
  uint32_t Signature(uint32_t local) {
    uint32_t& number = signatures_[local];
    if (number == Renumbered::kNew) {
      const OperatorSignature& own = scanner_.trace().signatures[local];
      const uint32_t dims = Text(own.input_dims), types = Text(own.input_types);
      number = commit_.handler().SignatureIndex({dims, types, Text(own.module_hierarchy)});
    }
    return number;
  }
  uint32_t Shape(uint32_t local) {
    uint32_t& number = shapes_[local];
    if (number == Renumbered::kNew) {
      LaunchShape shape = scanner_.trace().shapes[local];
      const Message& own = scanner_.trace().messages[shape.message];
      const uint32_t collective = Text(own.collective), dtype = Text(own.dtype);
      shape.message = commit_.handler().MessageIndex(
          {collective, dtype, own.group_size, own.in_elements, own.out_elements});
      number = commit_.handler().ShapeIndex(shape);
    }
    return number;
  }

  WindowQueue& queue_;
  OrderedCommit& commit_;
  EventScanner scanner_;
  FileWindow window_;
  Renumbered texts_, shapes_, signatures_;
  bool finished_ = false;
};

// Reads all windows. False if something only the reference reader may judge was met.
bool ReadWindows(WindowQueue& queue, OrderedCommit& commit, int workers) {
  std::vector<std::unique_ptr<Worker>> all;
  for (int i = 0; i < workers; ++i) all.push_back(std::make_unique<Worker>(queue, commit));
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < all.size(); ++i) {
    // Deferred where no thread can be had: then the first worker reads all.
    others.push_back(
        std::async(std::launch::async | std::launch::deferred, [&all, i] { all[i]->Run(); }));
  }
  all[0]->Run();
  for (std::future<void>& other : others) other.get();
  if (commit.failed() || queue.failed()) return false;
  for (const auto& worker : all) {
    if (!worker->handler().facts().other_program.empty()) return false;
    if (!commit.handler().Add(worker->handler())) return false;
  }
  return true;
}

}  // namespace

std::optional<TraceData> ReadFast(ByteSource& source, const FastReading& reading) {
  WindowQueue queue(source, reading.window_bytes);
  if (!queue.Open()) return std::nullopt;
  TraceData trace;
  OrderedCommit commit(trace);
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int workers = std::clamp(reading.workers, 1, queue.at_end() ? 1 : threads);
  if (!ReadWindows(queue, commit, workers) || trace.events.size() == 0) return std::nullopt;
  // The document without its events: what stands before and behind them.
  if (!ReadClean(queue.header() + "]" + commit.footer, commit.handler())) return std::nullopt;
  if (!source.fault().empty() || !commit.handler().facts().other_program.empty()) {
    return std::nullopt;
  }
  commit.handler().Finish();
  if (source.trailing_bytes()) trace.warnings.push_back("bytes behind the gzip data, not read");
  trace.json_bytes = queue.bytes_read();
  CheckFooter(trace);
  return trace;
}

}  // namespace perfgate
