#include "cupti/collector.h"

#include <poll.h>
#include <unistd.h>

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

// Before CUPTI was subscribed to, and for a context that was made then, the driver is asked.
bool Collector::UsesCuda() const {
  return context_created_.load() || pool_.ever_requested() || HasContext();
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
  api_.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  uint8_t zeroed = 1;
  size_t size = sizeof zeroed;
  api_.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  buffers_wake_fd.store(wakeup_.fd());
  buffers.store(&pool_);
  result = api_.cuptiActivityRegisterCallbacks(OnRequest, OnComplete);
  return result == CUPTI_SUCCESS ? "" : "CUPTI takes no buffers: " + api_.Text(result);
}

void Collector::WatchResets() {
  api_.cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API,
                           CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020);
  api_.cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API,
                           CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2);
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
  if (const std::string reason = Subscribe(); !reason.empty()) {
    Refuse(reason);
    wakeup_.Wake();
    return;
  }
  WatchTermination(wakeup_.fd());
  pool_.Reserve(BufferPool::kReadyBuffers);
  WatchResets();
  const std::string fault = EnableActivities(api_, *calls_);
  const int64_t now_ns = api_.Now();
  if (config_.step_range.empty()) {
    const std::lock_guard lock(mutex_);
    opened_ns_ = now_ns;
  }
  if (!fault.empty()) Close(now_ns, fault);
  wakeup_.Wake();
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
