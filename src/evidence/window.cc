#include "evidence/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace perfgate {
namespace {

constexpr std::string_view kMark = "ProfilerStep#";
constexpr int64_t kMarkToleranceNs = 1000;
constexpr int64_t kLargestNumber = int64_t{1} << 40;

std::optional<int64_t> MarkNumber(std::string_view name) {
  if (!name.starts_with(kMark)) return std::nullopt;
  name.remove_prefix(kMark.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (number < 0 || number > kLargestNumber) return std::nullopt;
  return number;
}

struct Mark {
  Step step;
  int64_t number = 0;
};

}  // namespace

int Window::StepAt(int64_t ns) const {
  const auto after = std::upper_bound(steps.begin(), steps.end(), ns,
                                      [](int64_t at, const Step& s) { return at < s.start_ns; });
  if (after == steps.begin()) return -1;
  const auto step = after - 1;
  return ns < step->end_ns ? static_cast<int>(step - steps.begin()) : -1;
}

Window WholeWindow(const TraceData& trace) {
  Step whole{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(), 0, 0};
  for (size_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& event = trace.events[i];
    if (event.IsGpuWork() || event.kind == EventKind::kOverhead) continue;
    if (event.kind == EventKind::kModule) continue;
    if (event.start_ns < whole.start_ns) {
      whole.start_ns = event.start_ns;
      whole.process = event.process;
      whole.thread = event.thread;
    }
    whole.end_ns = std::max(whole.end_ns, event.EndNs() + 1);
  }
  if (whole.end_ns < whole.start_ns) whole.start_ns = whole.end_ns = 0;
  return {{whole}, false};
}

Window FindWindow(const TraceData& trace, std::vector<std::string>& notes,
                  std::vector<std::string>& incomplete) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Mark>> threads;
  std::vector<std::optional<int64_t>> numbers(trace.texts.size());
  for (uint32_t text = 0; text < trace.texts.size(); ++text)
    numbers[text] = MarkNumber(trace.Text(text));
  int64_t unfinished = 0;
  for (size_t i = 0; i < trace.events.size(); ++i) {
    const EventKind kind = trace.events.Kind(i);
    if (kind != EventKind::kAnnotation && kind != EventKind::kOperator) continue;
    const TraceEvent& event = trace.events[i];
    if (!numbers[event.name]) continue;
    if (event.duration_ns == kAbsent) {
      ++unfinished;
      continue;
    }
    threads[{event.process, event.thread}].push_back(
        {{event.start_ns, event.EndNs(), event.process, event.thread}, *numbers[event.name]});
  }
  if (unfinished > 0) {
    notes.push_back(fmt::format("{} not finished, not counted", Plural(unfinished, "step mark")));
  }
  if (threads.empty()) {
    notes.push_back("no ProfilerStep marks: the whole trace is taken as one step");
    return WholeWindow(trace);
  }
  const auto most = std::max_element(
      threads.begin(), threads.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (threads.size() > 1) {
    notes.push_back(fmt::format("{} threads mark steps; thread {} is followed", threads.size(),
                                Printable(trace.Text(most->first.second))));
  }
  std::vector<Mark>& marks = most->second;
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark& a, const Mark& b) { return a.step.start_ns < b.step.start_ns; });
  Window window{{}, true};
  // Some writers mark a step as an annotation and as an operator.
  const auto same = [](const Mark& a, const Mark& b) {
    return a.number == b.number && b.step.start_ns - a.step.start_ns <= kMarkToleranceNs;
  };
  marks.erase(std::unique(marks.begin(), marks.end(), same), marks.end());
  for (size_t i = 0; i < marks.size(); ++i) {
    if (i > 0 && marks[i].step.start_ns + kMarkToleranceNs < marks[i - 1].step.end_ns) {
      incomplete.push_back(fmt::format("step marks overlap: ProfilerStep#{} starts inside #{}",
                                       marks[i].number, marks[i - 1].number));
      break;
    }
    window.steps.push_back(marks[i].step);
  }
  const auto jump =
      std::adjacent_find(marks.begin(), marks.end(),
                         [](const Mark& a, const Mark& b) { return b.number != a.number + 1; });
  if (jump != marks.end()) {
    window.misnumbered = fmt::format("ProfilerStep#{} is followed by #{}: {} steps are marked",
                                     jump->number, (jump + 1)->number, marks.size());
  }
  return window;
}

}  // namespace perfgate
