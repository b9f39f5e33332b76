#include "cupti/collector.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>

#include "cupti/activities.h"
#include "cupti/process_facts.h"
#include "cupti/termination.h"

namespace perfgate::cupti {
namespace {

// Of the monotonic clock. Async-signal-safe.
int64_t MonotonicNow() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

uint32_t ThreadId() { return static_cast<uint32_t>(::syscall(SYS_gettid)); }

void Say(const std::string& text) {
  const std::string line = "perfgate: " + text + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

// CUPTI's buffer callbacks carry no user data.
std::atomic<BufferPool*> buffers{nullptr};
std::atomic<int> buffers_wake_fd{-1};

}  // namespace

Collector::Collector(Config config)
    : config_(std::move(config)), steps_(config_.skipped_steps, config_.steps) {}

void Collector::OnRequest(uint8_t** buffer, size_t* size, size_t* most_records) {
  *most_records = 0;  // as many as fit
  *buffer = buffers.load()->Request();
  *size = *buffer == nullptr ? 0 : BufferPool::kBufferBytes;
}

void Collector::OnComplete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t used) {
  if (buffer == nullptr) return;
  if (buffers.load()->Complete(buffer, used)) Wakeup::Wake(buffers_wake_fd.load());
}

// A reset destroys what the GPU still has to say.
void Collector::OnCallback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId,
                           const void* data) {
  auto* collector = static_cast<Collector*>(self);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    collector->context_created_.store(true);
    collector->wakeup_.Wake();
    return;
  }
  const auto* call = static_cast<const CUpti_CallbackData*>(data);
  const bool enters = call->callbackSite == CUPTI_API_ENTER;
  if (enters && collector->pool_.ever_requested()) collector->api_.cuptiActivityFlushAll(0);
}

int64_t Collector::Now() const {
  static const CuptiApi kNone;
  return attached() ? api_.Now() : kNone.Now();
}

void Collector::Attach() {
  const std::string reason = Prepare();
  if (!reason.empty()) return Refuse(reason);
  {
    const std::lock_guard lock(mutex_);
    attached_.store(true);
    const bool whole = config_.step_range.empty() && config_.after_ns == 0;
    if (whole) phase_.store(Phase::kOpen);
  }
  attached_ns_ = api_.Now();
  StartRecording();
  const std::string no_worker = StartWorker();
  if (!no_worker.empty()) Refuse(no_worker);
}

std::string Collector::Prepare() {
  if (!config_.fault.empty()) return config_.fault;
  if (wakeup_.fd() < 0) return "no file descriptor is left";
  std::string reason = LoadCupti(config_.library, api_);
  if (!reason.empty()) return reason;
  reason = Subscribe();
  if (reason.empty()) calls_.emplace(api_);
  return reason;
}

std::string Collector::Subscribe() {
  CUptiResult result = api_.cuptiSubscribe(&subscriber_, OnCallback, this);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    return "another profiler has CUPTI already (torch.profiler, Nsight, cuda-gdb): CUPTI serves "
           "one "
           "at a time; run the program without it";
  }
  if (result != CUPTI_SUCCESS) {
    return "CUPTI " + std::to_string(api_.version) + " does not start: " + api_.Text(result) +
           "; one that is newer than the driver does not";
  }
  api_.cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE,
                           CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  api_.cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API,
                           CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020);
  api_.cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API,
                           CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2);
  api_.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  uint8_t zeroed = 1;
  size_t size = sizeof zeroed;
  api_.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  buffers_wake_fd.store(wakeup_.fd());
  buffers.store(&pool_);
  result = api_.cuptiActivityRegisterCallbacks(OnRequest, OnComplete);
  return result == CUPTI_SUCCESS ? "" : "CUPTI takes no buffers: " + api_.Text(result);
}

// Signals are for the program's own threads.
std::string Collector::StartWorker() {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t worker;
  const int error = ::pthread_create(&worker, nullptr, RunWorker, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return std::string("cannot start a thread: ") + std::strerror(error);
  ::pthread_detach(worker);
  return "";
}

void Collector::Refuse(const std::string& reason) {
  Say("no trace is written: " + reason);
  WriteNoTrace(config_, reason);
  {
    const std::lock_guard lock(mutex_);
    phase_.store(Phase::kClosed);
  }
  done_.store(true);  // last: the process may end now
}

void Collector::StartRecording() {
  {
    const std::lock_guard lock(mutex_);
    const bool due = phase() == Phase::kPrimed || phase() == Phase::kOpen;
    if (!attached() || recording_ || !due) return;
    recording_ = true;
  }
  WatchTermination(wakeup_.fd());
  pool_.Reserve(BufferPool::kReadyBuffers);
  const std::string fault = EnableActivities(api_, *calls_);
  const int64_t now_ns = api_.Now();
  if (config_.step_range.empty()) {
    const std::lock_guard lock(mutex_);
    opened_ns_ = now_ns;
  }
  if (!fault.empty()) Close(now_ns, fault);
  wakeup_.Wake();
}

void Collector::Advance(Phase next) {
  if (phase() == Phase::kIdle || phase() == Phase::kPrimed) phase_.store(next);
}

OpenRange Collector::BeginRange(const char* name) {
  OpenRange range;
  const bool is_step = !config_.step_range.empty() && config_.step_range == name;
  const Phase before = phase();
  if (before == Phase::kClosed || before == Phase::kDraining) return range;
  if (before != Phase::kOpen) NoteRange(name);
  if (is_step) {
    const std::lock_guard lock(mutex_);
    const StepCounter::Begun begun = steps_.Begin();
    range.counted = begun.counted;
    range.step = begun.step;
    if (begun.turn == StepCounter::Turn::kPrime) Advance(Phase::kPrimed);
    if (begun.turn == StepCounter::Turn::kOpen) {
      Advance(Phase::kOpen);
      step_thread_ = ThreadId();
    }
  }
  if (phase() == Phase::kPrimed || phase() == Phase::kOpen) StartRecording();
  if (phase() != Phase::kOpen) return range;
  range.thread = ThreadId();
  range.start_ns = Now();
  const std::lock_guard lock(mutex_);
  range.name = &*names_.emplace(name).first;
  if (range.step == 0) {
    opened_ns_ = range.start_ns;
    wakeup_.Wake();  // the file is begun
  }
  return range;
}

void Collector::EndRange(const OpenRange& range) {
  if (!range.counted && range.start_ns == 0) return;
  const int64_t now_ns = range.start_ns == 0 ? 0 : Now();
  bool closes = false;
  {
    const std::lock_guard lock(mutex_);
    if (range.counted) closes = steps_.End() == StepCounter::Turn::kClose;
    const bool room = static_cast<int64_t>(ranges_.size()) < config_.most_events;
    if (range.start_ns != 0 && phase() == Phase::kOpen && room) {
      const uint32_t thread = range.step < 0 ? range.thread : step_thread_;
      ranges_.push_back({range.name, range.start_ns, now_ns, range.step, thread});
    }
  }
  if (closes) Close(now_ns, "");
}

// Remembers the names of ranges for the case that none is a step.
void Collector::NoteRange(const char* name) {
  constexpr int64_t kMostNoted = 10'000;
  constexpr size_t kMostNames = 8;
  const std::lock_guard lock(mutex_);
  if (++noted_ > kMostNoted) return;
  const auto known = seen_.find(name);
  if (known != seen_.end()) {
    ++known->second;
  } else if (seen_.size() < kMostNames) {
    seen_.emplace(name, 1);
  }
}

void Collector::Close(int64_t now_ns, const std::string& fault) {
  {
    const std::lock_guard lock(mutex_);
    if (phase() != Phase::kOpen && phase() != Phase::kPrimed) return;
    closed_ns_ = now_ns;
    fault_ = fault;
    phase_.store(Phase::kDraining);
  }
  if (attached()) DisableCalls(api_);
  calls_off_.store(true);
  wakeup_.Wake();
}

std::string Collector::WhyUnfinished(int64_t ended_ns) {
  constexpr int64_t kMillisecond = 1'000'000;
  const std::lock_guard lock(mutex_);
  if (config_.step_range.empty()) {
    const int64_t passed_ns = ended_ns - (attached_ns_ + config_.after_ns);
    if (passed_ns >= config_.for_ns) return "";
    return "the program ended inside the window: " + std::to_string(passed_ns / kMillisecond) +
           " of " + std::to_string(config_.for_ns / kMillisecond) + " ms had passed";
  }
  return "the program ended inside the window: " + std::to_string(steps_.ended_in_window()) +
         " of " + std::to_string(config_.steps) + " ranges '" + config_.step_range + "' had ended";
}

std::string Collector::WhyNeverOpened() {
  const std::lock_guard lock(mutex_);
  if (config_.step_range.empty()) return "the program ended before its window began";
  if (steps_.begun() > 0) {
    return "the window never began: the program marked " + std::to_string(steps_.begun()) +
           " ranges '" + config_.step_range + "', of which the first " +
           std::to_string(config_.skipped_steps) + " are warm-up; declare fewer warm-up iterations";
  }
  std::string text = "the program marked no NVTX range '" + config_.step_range + "'; ";
  if (seen_.empty()) return text + "it marked no range at all";
  text += "it marked";
  const char* separator = " ";
  for (const auto& [name, count] : seen_) {
    text += separator + ("'" + name) + "'";
    separator = ", ";
  }
  return text;
}

bool Collector::Finish() noexcept {
  constexpr int kMostWaits = 10'000;  // of a millisecond: longer than draining may take
  if (!attached() || done_.load()) return false;
  int64_t none = 0;
  finish_asked_ns_.compare_exchange_strong(none, MonotonicNow());
  wakeup_.Wake();
  for (int i = 0; i < kMostWaits && !done_.load(); ++i) ::poll(nullptr, 0, 1);
  return true;
}

void Collector::SayEndedTooEarly() noexcept {
  if (!done_.load() || !file_begun_) return;
  try {
    ending_.fault =
        "the recording ended before an exec that failed: the program went on without it";
    file_.EndAnew(EnvironmentKeys(), ending_);
    if (!file_.error().empty()) Say(file_.error());
  } catch (const std::bad_alloc&) {
    file_.Remove();
  }
}

// Of two clocks the monotonic one is read first: the end is not put before a call that the program
// had begun.
void Collector::CloseAtEnd() {
  const int64_t passed_ns = MonotonicNow() - finish_asked_ns_.load();
  const int64_t ended_ns = api_.Now() - passed_ns;
  Close(ended_ns, phase() == Phase::kOpen ? WhyUnfinished(ended_ns) : "");
}

}  // namespace perfgate::cupti
