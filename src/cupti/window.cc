// The window of a collector: which ranges of the program open and close it, and why it did not.
#include <sys/syscall.h>
#include <unistd.h>

#include "cupti/activities.h"
#include "cupti/collector.h"

namespace perfgate::cupti {
namespace {

uint32_t ThreadId() { return static_cast<uint32_t>(::syscall(SYS_gettid)); }

}  // namespace

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

}  // namespace perfgate::cupti
