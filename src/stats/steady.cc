#include <algorithm>
#include <cmath>

#include "stats/stats.h"

namespace perfgate {
namespace {

constexpr size_t kFewestIterations = 30;
constexpr size_t kMostBlocks = 200;

// Medians of blocks of `size` iterations; what does not fill a block goes into the last one.
std::vector<double> BlockMedians(std::span<const int64_t> iterations, size_t size) {
  std::vector<double> medians;
  for (size_t begin = 0; begin + size <= iterations.size(); begin += size) {
    const bool last = begin + 2 * size > iterations.size();
    const auto block = iterations.subspan(begin, last ? iterations.size() - begin : size);
    medians.push_back(Median({block.begin(), block.end()}));
  }
  return medians;
}

struct Level {
  size_t begin = 0, end = 0;
  double median = 0;
};

std::vector<Level> LevelsOf(const std::vector<double>& blocks, double tolerance) {
  const std::vector<ChangePoint> changes =
      FindChangePoints(blocks, {.minimum_segment = std::max<size_t>(5, blocks.size() / 40),
                                .minimum_size = tolerance,
                                .autocorrelated = true});
  std::vector<Level> levels = {{0, blocks.size(), changes.empty() ? Median(blocks) : 0}};
  for (const ChangePoint& change : changes) {
    levels.back().end = change.index;
    levels.back().median = change.before;
    levels.push_back({change.index, blocks.size(), change.after});
  }
  return levels;
}

bool Equal(const Level& a, const Level& b, double tolerance) {
  return std::abs(a.median - b.median) <= tolerance * std::min(a.median, b.median);
}

// The change from begin to end along the line through the values, relative to their median
// (Theil-Sen slope); 0 unless Mann-Kendall's test is sure of it (5 standard deviations: neighbours
// are alike, so that one is less than it seems).
double DriftOf(std::span<const double> values) {
  constexpr double kSure = 5;
  std::vector<double> slopes;
  double rising = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
      rising += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
    }
  }
  const auto n = static_cast<double>(values.size());
  const double median = Median({values.begin(), values.end()});
  if (median <= 0 || std::abs(rising) <= kSure * std::sqrt(n * (n - 1) * (2 * n + 5) / 18))
    return 0;
  return Median(std::move(slopes)) * (n - 1) / median;
}

double Quantile(std::span<const double> sorted, double p) {
  const double place = static_cast<double>(sorted.size() - 1) * p;
  const auto i = static_cast<size_t>(place);
  const double part = place - static_cast<double>(i);
  return part > 0 ? sorted[i] * (1 - part) + sorted[i + 1] * part : sorted[i];
}

// Two groups of iterations that are far apart beside the interquartile ranges of both, each with a
// fifth of the values or more, wherever the cut lies best.
bool HasTwoGroups(std::span<const int64_t> iterations, double tolerance) {
  std::vector<double> sorted(iterations.begin(), iterations.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = sorted.size();
  const double far = 1.5 + 30 / static_cast<double>(n);
  for (size_t cut = n / 5 + 1; cut + n / 5 + 1 <= n; ++cut) {
    const std::span<const double> low(sorted.data(), cut), high(sorted.data() + cut, n - cut);
    const double distance = Quantile(high, 0.5) - Quantile(low, 0.5);
    const double spread =
        Quantile(low, 0.75) - Quantile(low, 0.25) + Quantile(high, 0.75) - Quantile(high, 0.25);
    if (distance > far * spread && distance > tolerance * Quantile(low, 0.5)) return true;
  }
  return false;
}

// Another level lies between two that are equal, and both last: the workload goes to and fro.
bool Returns(const std::vector<Level>& levels, double tolerance, size_t blocks) {
  size_t equal = 0;
  bool between = false;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (!Equal(levels[i], levels.back(), tolerance)) {
      between = between || equal > 0;
      continue;
    }
    equal += levels[i].end - levels[i].begin;
  }
  return between && std::min(equal, blocks - equal) * 5 >= blocks;
}

// The change over the last two thirds if it came in several steps of one direction; else 0.
double StairsOf(const std::vector<Level>& levels, size_t blocks) {
  size_t first = levels.size() - 1, up = 0, down = 0;
  for (; first > 0 && levels[first].begin >= blocks / 3; --first) {
    ++(levels[first].median > levels[first - 1].median ? up : down);
  }
  return up + down >= 2 && std::min(up, down) == 0 ? levels.back().median / levels[first].median - 1
                                                   : 0;
}

}  // namespace

std::optional<SteadyLevel> FindSteadyState(std::span<const int64_t> iterations, double tolerance) {
  if (iterations.size() < kFewestIterations) return std::nullopt;
  const size_t size = (iterations.size() + kMostBlocks - 1) / kMostBlocks;
  const std::vector<double> blocks = BlockMedians(iterations, size);
  const std::vector<Level> levels = LevelsOf(blocks, tolerance);

  size_t first = levels.size() - 1;
  while (first > 0 && Equal(levels[first - 1], levels.back(), tolerance)) --first;
  const size_t begin = levels[first].begin;
  SteadyLevel state;
  if (Returns(levels, tolerance, blocks.size())) {
    state.steadiness = Steadiness::kBimodal;
  } else if ((blocks.size() - begin) * 3 < blocks.size()) {
    state.drift = StairsOf(levels, blocks.size());
    state.steadiness = state.drift != 0 ? Steadiness::kDrifting : Steadiness::kNotSteady;
  } else {
    state.drift = DriftOf(std::span(blocks).subspan(begin));
    state.steadiness = std::abs(state.drift) > tolerance ? Steadiness::kDrifting
                       : HasTwoGroups(iterations.subspan(begin * size), tolerance)
                           ? Steadiness::kBimodal
                           : Steadiness::kSteady;
  }
  const bool ends = state.steadiness == Steadiness::kSteady;
  state.warmup_iterations = static_cast<int>(ends ? begin * size : iterations.size());
  return state;
}

}  // namespace perfgate
