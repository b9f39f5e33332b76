// What a machine can say of rules on times.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "base/text.h"
#include "calibration/calibration.h"

namespace perfgate {
namespace {

bool IsFor(const Rule& rule, const Calibration& calibration) {
  const auto device = calibration.stack.find("device");
  const bool on_gpu = device != calibration.stack.end() && device->second == "cuda";
  return Concerns(rule, calibration.case_name, on_gpu ? "cuda" : "cpu") &&
         std::find(rule.metrics.begin(), rule.metrics.end(), calibration.metric) !=
             rule.metrics.end();
}

// A tolerance that a person would write: 4.13 % -> "5%", 0.0031 -> "0.4%".
std::string WrittenTolerance(double ratio) {
  const double percent = ratio * 100, step = percent < 1 ? 0.1 : percent < 10 ? 1 : 5;
  return fmt::format("{:g}%", std::ceil(percent / step - 1e-9) * step);
}

void Explain(const Calibration& calibration, Resolution& resolution) {
  const std::string_view name = Info(calibration.metric).name;
  if (!calibration.doubt.empty()) {
    resolution.why_not = fmt::format("{} proves nothing: {}", name, calibration.doubt);
    resolution.next = "declare a longer warm-up or more iterations in the timed window";
  } else if (calibration.levels) {
    resolution.why_not = InWords(calibration) + ": no number of pairs decides";
    resolution.next = "pin the processes (taskset, numactl), or judge the case by another metric";
  } else if (resolution.pairs_needed > kMostPlannedPairs) {
    resolution.why_not = fmt::format(
        "{} varies by {} from pair to pair: {:g} % would need {} pairs, at most {} are run, which "
        "resolve {}",
        name, PercentUp(calibration.noise), resolution.tolerance * 100, resolution.pairs_needed,
        kMostPlannedPairs, PercentUp(resolution.finest));
    resolution.next = fmt::format("measure on a quieter machine, or set 'tolerance: {}' in {}",
                                  WrittenTolerance(ResolvableTolerance(calibration.noise, 12)),
                                  ToString(resolution.where));
  }
}

// One pair of values, base and head.
using PairOfValues = std::pair<double, double>;

// A screening, then confirmations of the usual size while the pairs last.
std::vector<size_t> RoundSizes(size_t pairs) {
  std::vector<size_t> sizes = {std::min<size_t>(pairs, kScreeningPairs)};
  size_t left = pairs - sizes.front();
  while (left >= kFewestPairs && sizes.size() <= kMostComparisons) {
    sizes.push_back(std::min<size_t>(left, kComparisonPairs));
    left -= sizes.back();
  }
  return sizes;
}

PairsVerdict VerdictOf(std::span<const PairOfValues> pairs, double tolerance) {
  PairedMetric metric{tolerance, {}, 0};
  auto next = pairs.begin();
  for (const size_t size : RoundSizes(pairs.size())) {
    PairsOfRound& round = metric.rounds.emplace_back();
    round.planned = static_cast<int>(size);
    for (size_t i = 0; i < size; ++i, ++next) {
      round.base.push_back(next->first);
      round.head.push_back(next->second);
    }
  }
  return CompareFamily(std::span(&metric, 1)).front().comparison.verdict;
}

// Fisher and Yates, by hand: a library's own shuffle differs from the next one's.
void Disguise(std::vector<PairOfValues>& pairs, std::mt19937_64& chance) {
  for (size_t left = pairs.size(); left > 1; --left) {
    std::swap(pairs[left - 1], pairs[chance() % left]);
  }
  for (PairOfValues& pair : pairs) {
    if (chance() >> 63 != 0) std::swap(pair.first, pair.second);
  }
}

}  // namespace

std::string PercentUp(double ratio) {
  const double percent = ratio * 100;
  const double step = percent < 1 ? 0.01 : percent < 10 ? 0.1 : 1;
  return fmt::format("{:.3g} %", std::max(0.0, std::ceil(percent / step - 1e-9) * step));
}

std::string InWords(const Calibration& calibration) {
  const Metric& metric = Info(calibration.metric);
  if (const auto& levels = calibration.levels) {
    return fmt::format("{} is about {} or about {}, by chance ({} pairs of A against A on {})",
                       metric.name, FormatValue(levels->low, metric.unit),
                       FormatValue(levels->high, metric.unit), calibration.Pairs(),
                       calibration.measured.substr(0, 10));
  }
  return fmt::format(
      "{} varies by {} from pair to pair ({} pairs of A against A on {}), which {} pairs resolve "
      "from {} on",
      metric.name, PercentUp(calibration.noise), calibration.Pairs(),
      calibration.measured.substr(0, 10), kComparisonPairs,
      PercentUp(ResolvableTolerance(calibration.noise, kComparisonPairs)));
}

std::vector<Resolution> Resolve(std::span<const Rule> rules,
                                std::span<const Calibration> of_one_case) {
  std::vector<Resolution> resolutions;
  for (const Rule& rule : rules) {
    const auto* check = std::get_if<RegressionCheck>(&rule.check);
    if (check == nullptr) continue;
    for (const Calibration& calibration : of_one_case) {
      if (!IsFor(rule, calibration)) continue;
      Resolution resolution;
      resolution.rule = rule.full_id;
      resolution.where = rule.where;
      resolution.case_name = calibration.case_name;
      resolution.metric = calibration.metric;
      resolution.tolerance = check->tolerance;
      resolution.finest = ResolvableTolerance(calibration.noise, kMostPlannedPairs);
      resolution.pairs_needed = PairsToResolve(calibration.noise, check->tolerance);
      Explain(calibration, resolution);
      resolutions.push_back(std::move(resolution));
    }
  }
  return resolutions;
}

void SwapLabels(const Calibration& calibration, int swaps, uint64_t seed, Resolution& resolution) {
  std::vector<PairOfValues> pairs;
  for (size_t i = 0; i < calibration.base.size(); ++i) {
    pairs.emplace_back(calibration.base[i], calibration.head[i]);
  }
  resolution.failed_as_measured = VerdictOf(pairs, resolution.tolerance) == PairsVerdict::kFail;
  if (resolution.failed_as_measured && resolution.why_not.empty()) {
    resolution.why_not = fmt::format("A against A failed: {} of the same code differed",
                                     Info(resolution.metric).name);
    resolution.next = "look for what disturbs the machine, and calibrate again";
  }
  std::mt19937_64 chance(seed);
  for (int i = 0; i < swaps; ++i) {
    Disguise(pairs, chance);
    const PairsVerdict verdict = VerdictOf(pairs, resolution.tolerance);
    resolution.failed += verdict == PairsVerdict::kFail;
    resolution.inconclusive += verdict == PairsVerdict::kInconclusive;
  }
  resolution.swaps += swaps;
}

}  // namespace perfgate
