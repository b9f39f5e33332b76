// `profiler: instructions`: counts of whole processes become counts of a step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "evidence/merge.h"

namespace perfgate {
namespace {

// Processes that differ by more do something else each time.
constexpr double kSame = 0.005;

struct Counted {
  const AttemptData* data;
  int iterations;
  int64_t count;
};

// A workload of the attempt contract leaves a time for every iteration: it ran as many as it was
// asked for. Nothing of one that knows nothing of the contract.
bool KeepsContract(const AttemptData& data) { return data.samples.has_value(); }

void Observe(const AttemptData& data, double count, Evidence& evidence) {
  const Attempt& attempt = data.attempt;
  evidence.values.push_back(
      {MetricId::kInstructions, attempt.side, attempt.pair, attempt.process, {std::round(count)}});
}

void ObserveSteps(const std::vector<Counted>& counted, Evidence& evidence) {
  for (size_t i = 0; i + 1 < counted.size(); ++i) {
    const Counted &once = counted[i], &twice = counted[i + 1];
    const bool pair = once.data->attempt.process % 2 == 0 &&
                      twice.data->attempt.process == once.data->attempt.process + 1;
    if (!pair) continue;
    if (twice.count <= once.count) {
      AddUnique(evidence.incomplete_because,
                fmt::format("{} iterations took no more instructions than {}", twice.iterations,
                            once.iterations));
      return;
    }
    Observe(*once.data,
            static_cast<double>(twice.count - once.count) / (twice.iterations - once.iterations),
            evidence);
  }
}

void CheckWindow(const Counted& counted, Evidence& evidence) {
  const auto timed = static_cast<int64_t>(counted.data->samples->latency_ns.size());
  if (timed == counted.iterations) return;
  AddUnique(evidence.incomplete_because,
            fmt::format("process {} timed {}, {} were asked for", counted.data->attempt.process,
                        Plural(timed, "iteration"), counted.iterations));
}

void NoteSpread(Evidence& evidence) {
  const auto less = [](const Observation& a, const Observation& b) {
    return a.per_step.front() < b.per_step.front();
  };
  std::vector<Observation> counts;
  for (const Observation& observation : evidence.values) {
    if (observation.metric == MetricId::kInstructions) counts.push_back(observation);
  }
  if (counts.empty()) return;
  const auto [low, high] = std::minmax_element(counts.begin(), counts.end(), less);
  const double spread = high->per_step.front() / low->per_step.front() - 1;
  if (spread <= kSame) return;
  evidence.notes.push_back(fmt::format(
      "instructions differ by {:.1f} % from process to process: the work is not the same each time",
      100 * spread));
}

}  // namespace

void AppendInstructions(const Case& declared, std::span<const AttemptData> attempts,
                        Evidence& evidence) {
  for (const Metric& metric : Metrics()) {
    const bool of_trace_or_time =
        metric.id < MetricId::kFallbacks && metric.id != MetricId::kInstructions;
    if (of_trace_or_time) evidence.unavailable.insert_or_assign(metric.id, kInstructionsOnly);
  }
  std::vector<Counted> counted;
  for (const AttemptData& data : attempts) {
    if (!data.instructions) continue;
    counted.push_back({&data, TimedIterationsOf(declared, data.attempt), data.instructions->count});
  }
  if (counted.empty()) return;
  const std::string& tool = counted.front().data->instructions->tool;
  const bool one_tool = std::all_of(counted.begin(), counted.end(), [&](const Counted& each) {
    return each.data->instructions->tool == tool;
  });
  if (!one_tool) {
    AddUnique(evidence.incomplete_because, "instructions were counted by different tools");
    return;
  }
  const auto keeping = std::count_if(counted.begin(), counted.end(),
                                     [](const Counted& each) { return KeepsContract(*each.data); });
  const bool steps = keeping == static_cast<std::ptrdiff_t>(counted.size());
  if (!steps && keeping > 0) {
    AddUnique(evidence.incomplete_because, "some processes wrote samples.json, others did not");
    return;
  }
  evidence.key.fields["profiler"] = tool;
  evidence.key.fields["counted"] = steps ? "a step" : "a process";
  if (steps) {
    for (const Counted& each : counted) CheckWindow(each, evidence);
    ObserveSteps(counted, evidence);
  } else {
    for (const Counted& each : counted)
      Observe(*each.data, static_cast<double>(each.count), evidence);
  }
  evidence.notes.push_back(
      steps ? fmt::format("instructions of a step: the difference of processes of {} and {} "
                          "iterations, by {}",
                          declared.windows.timed_iterations, 2 * declared.windows.timed_iterations,
                          tool)
            : fmt::format("instructions of a whole process, its start too, by {}: the workload "
                          "does not keep the attempt contract",
                          tool));
  NoteSpread(evidence);
}

}  // namespace perfgate
