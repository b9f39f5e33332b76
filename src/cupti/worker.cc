// The collector's worker: reads what CUPTI filled, keeps the window's time, writes the file.
#include <algorithm>

#include "cupti/activities.h"
#include "cupti/collector.h"
#include "cupti/process_facts.h"
#include "cupti/termination.h"

namespace perfgate::cupti {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kLongestMs = 60'000;  // what matters wakes the worker
constexpr int kCountMs = 150;           // while kernels are counted
constexpr int kDrainMs = 5;
constexpr int64_t kDrainNs = 5 * kSecond;
constexpr int64_t kTerminatedDrainNs = kSecond;
constexpr int kQuietRounds = 3;
constexpr int kForcedRounds = 20;
constexpr size_t kMostHeld = 100'000;
// CUPTI may keep a buffer that nothing comes back from as long as the program launches on.
constexpr int64_t kHeldBufferNs = kSecond / 2;

}  // namespace

void* Collector::RunWorker(void* self) {
  static_cast<Collector*>(self)->Work();
  return nullptr;
}

void Collector::Work() {
  recorder_.emplace(api_, *calls_, file_, config_.most_events);
  while (phase() != Phase::kClosed) {
    wakeup_.Wait(PauseMs());
    if (TerminationAsked()) Close(api_.Now(), WhyUnfinished(api_.Now()));
    if (finish_asked_ns_.load() != 0) CloseAtEnd();
    KeepTime();
    // A flush holds launches up: none in an open window, unless its kernels are counted.
    if (phase() == Phase::kDraining || config_.kernels > 0) Flush(0);
    ReadBuffers();
    if (phase() == Phase::kDraining && calls_off_.load()) Drain();
    if (phase() == Phase::kIdle && finish_asked_ns_.load() != 0) {
      if (UsesCuda()) Refuse(WhyNeverOpened());
      break;
    }
  }
  UnwatchTermination();
  done_.store(true);
  if (TerminationAsked()) Terminate();
}

int Collector::PauseMs() const {
  const Phase now = phase();
  if (now == Phase::kDraining) return kDrainMs;
  int64_t pause_ms = now == Phase::kOpen && config_.kernels > 0 ? kCountMs : kLongestMs;
  int64_t until_ns = 0;
  if (now == Phase::kIdle) until_ns = config_.after_ns;
  if (now == Phase::kOpen && config_.for_ns > 0) until_ns = config_.after_ns + config_.for_ns;
  if (until_ns > 0) {
    const int64_t left_ns = attached_ns_ + until_ns - api_.Now();
    pause_ms = std::clamp(left_ns / kMillisecond + 1, int64_t{0}, pause_ms);
  }
  return static_cast<int>(pause_ms);
}

void Collector::KeepTime() {
  if (config_.after_ns + config_.for_ns == 0) return;
  const int64_t now_ns = api_.Now();
  const int64_t opens_ns = attached_ns_ + config_.after_ns;
  if (phase() == Phase::kIdle && now_ns >= opens_ns && finish_asked_ns_.load() == 0) {
    {
      const std::lock_guard lock(mutex_);
      Advance(Phase::kOpen);
    }
    StartRecording();
  }
  if (phase() == Phase::kOpen && config_.for_ns > 0 && now_ns >= opens_ns + config_.for_ns) {
    Close(now_ns, "");
  }
}

void Collector::Flush(uint32_t flag) {
  if (!pool_.ever_requested()) return;  // without any GPU use a flush has hung
  api_.cuptiActivityFlushAll(flag);
  size_t dropped = 0;
  if (api_.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS) {
    dropped_ += static_cast<int64_t>(dropped);
  }
}

std::vector<FilledBuffer> Collector::TakeBuffers() {
  // Nor is what the warm-up filled read while it lasts: the window may open meanwhile.
  const Phase now = phase();
  const bool alone =
      (now == Phase::kPrimed || now == Phase::kOpen) && config_.kernels == 0 && !pool_.FewReady();
  return alone ? std::vector<FilledBuffer>() : pool_.Take();
}

void Collector::ReadBuffers() {
  const std::vector<FilledBuffer> filled = TakeBuffers();
  // Looked at after the buffers were taken: what is in them was recorded before.
  const Phase now = phase();
  bool opened = false;
  {
    const std::lock_guard lock(mutex_);
    opened = opened_ns_ != INT64_MAX;
    recorder_->SetOpened(opened_ns_);
    if (now == Phase::kDraining) recorder_->SetClosed(closed_ns_);
  }
  if (!file_begun_ && opened && UsesCuda()) BeginFile();
  const int64_t work_before = recorder_->gpu_work_read();
  for (const FilledBuffer& buffer : filled) {
    recorder_->Read(buffer);
    pool_.Return(buffer);
  }
  quiet_rounds_ = recorder_->gpu_work_read() == work_before ? quiet_rounds_ + 1 : 0;
  if (file_begun_) WriteRanges();
  if (recorder_->full()) {
    Close(api_.Now(), "the window holds more than " + std::to_string(config_.most_events) +
                          " events: declare fewer steps, or a shorter window");
  }
  if (config_.kernels > 0 && recorder_->kernels() >= config_.kernels) Close(api_.Now(), "");
}

void Collector::WriteRanges() {
  std::vector<Range> ranges;
  {
    const std::lock_guard lock(mutex_);
    ranges.swap(ranges_);
  }
  for (const Range& range : ranges) recorder_->Write(range);
}

void Collector::BeginFile() {
  file_begun_ = true;
  {
    const std::lock_guard lock(mutex_);
    // A second early: what was under way when the window opened began before it.
    base_ns_ = (opened_ns_ / kSecond - 1) * kSecond;
  }
  recorder_->SetBase(base_ns_);
  file_.Create(config_);
  file_.Begin(HeaderKeys(config_, api_, base_ns_));
}

void Collector::Drain() {
  if (drain_began_ns_ == 0) {
    drain_began_ns_ = api_.Now();
    quiet_rounds_ = 0;
    return;
  }
  if (!IsDrained()) return;
  DisableGpuWork(api_);
  recorder_->SetForced();
  for (int round = 0; round == 0 || (pool_.HeldWithRecords() > 0 && round < kForcedRounds);
       ++round) {
    if (round > 0) wakeup_.Wait(kDrainMs);  // a thread may be about to give its buffer back
    Flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    ReadBuffers();
  }
  api_.cuptiUnsubscribe(subscriber_);
  EndFile();
  phase_.store(Phase::kClosed);
}

// All launches that are known have their work, and no record waits in a buffer of CUPTI's that the
// program has stopped filling.
bool Collector::IsDrained() {
  const int64_t waited_ns = api_.Now() - drain_began_ns_;
  if (waited_ns >= (TerminationAsked() ? kTerminatedDrainNs : kDrainNs)) return true;
  // A program that launches on fills this time with work of no window.
  if (waited_ns >= kSecond && recorder_->held() > kMostHeld) recorder_->DropOtherWork();
  if (recorder_->outstanding() > 0 || quiet_rounds_ < kQuietRounds) return false;
  return pool_.HeldWithRecords() == 0 ||
         (finish_asked_ns_.load() != 0 && waited_ns >= kHeldBufferNs);
}

std::string Collector::WhyIncomplete() {
  if (const int kept = pool_.HeldWithRecords(); kept > 0) {
    return "CUPTI kept " + std::to_string(kept) + " buffers of records";
  }
  if (recorder_->empty()) {
    return "CUPTI recorded no call in the window: the program made none, or another profiler in it "
           "(torch.profiler) took the records";
  }
  if (recorder_->unfinished() > 0) {
    return std::to_string(recorder_->unfinished()) +
           " GPU activities had not finished when the recording ended";
  }
  if (recorder_->full()) {
    return "the window holds more than " + std::to_string(config_.most_events) + " events";
  }
  // Known only now: of what ran in the window much was read after it. A window that has a time too
  // may end by that.
  if (config_.for_ns == 0 && recorder_->kernels() < config_.kernels) {
    return "the program ended inside the window: " + std::to_string(recorder_->kernels()) + " of " +
           std::to_string(config_.kernels) + " kernels had run";
  }
  return "";
}

void Collector::EndFile() {
  if (!file_begun_) {
    if (UsesCuda()) Refuse(fault_.empty() ? WhyNeverOpened() : fault_);
    return;
  }
  recorder_->Finish();
  ending_.dropped = dropped_;
  ending_.drain_ns = api_.Now() - drain_began_ns_;
  {
    const std::lock_guard lock(mutex_);
    ending_.fault = fault_;
  }
  if (ending_.fault.empty()) ending_.fault = WhyIncomplete();
  file_.End(EnvironmentKeys(), ending_);
  if (!file_.error().empty()) Refuse(file_.error());
}

}  // namespace perfgate::cupti
