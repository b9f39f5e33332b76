#include <algorithm>
#include <cmath>

#include "stats/stats.h"

namespace perfgate {
namespace {

constexpr size_t kFewestIterations = 30;
constexpr size_t kMostBlocks = 200;

double MedianOfBlocks(std::span<const double> values) {
  return Median({values.begin(), values.end()});
}

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

// Of changes that are small beside the tolerance, too: several of them are a slope.
std::vector<Level> LevelsOf(const std::vector<double>& blocks, double tolerance) {
  const std::vector<ChangePoint> changes =
      FindChangePoints(blocks, {.minimum_segment = std::max<size_t>(5, blocks.size() / 40),
                                .minimum_size = tolerance / 4,
                                .autocorrelated = true});
  std::vector<Level> levels = {{0, blocks.size(), changes.empty() ? Median(blocks) : 0}};
  for (const ChangePoint& change : changes) {
    levels.back().end = change.index;
    levels.back().median = change.before;
    levels.push_back({change.index, blocks.size(), change.after});
  }
  return levels;
}

bool Equal(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::min(a, b);
}

// The change from begin to end, relative to the median of the values: along the line through them
// (Theil-Sen slope) or between the medians of their first and last third, the smaller one, so that
// neither a step nor a few values at an end are taken for a slope. 0 unless Mann-Kendall's test is
// sure of it (5 standard deviations: neighbours are alike, so that one is less than it seems).
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
  const double median = MedianOfBlocks(values);
  if (median <= 0 || std::abs(rising) <= kSure * std::sqrt(n * (n - 1) * (2 * n + 5) / 18))
    return 0;
  const double along = Median(std::move(slopes)) * (n - 1);
  const size_t third = values.size() / 3;
  const double between = MedianOfBlocks(values.last(third)) - MedianOfBlocks(values.first(third));
  return (std::abs(between) < std::abs(along) ? between : along) / median;
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

// A fifth: less of a series than that moves its median little.
bool IsLarge(size_t part, size_t whole) { return part * 5 >= whole; }

// Another level lies between two that are equal, and both last: the workload goes to and fro.
bool Returns(const std::vector<Level>& levels, double tolerance, size_t blocks) {
  size_t equal = 0;
  bool between = false;
  for (const Level& level : levels) {
    if (!Equal(level.median, levels.back().median, tolerance)) {
      between = between || equal > 0;
      continue;
    }
    equal += level.end - level.begin;
  }
  return between && IsLarge(std::min(equal, blocks - equal), blocks);
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

// A stretch of a series of `whole` blocks, up to its end.
struct Stretch {
  std::span<const Level> levels;
  std::span<const double> blocks;
  std::span<const int64_t> iterations;
  size_t whole = 0;
};

SteadyLevel Judge(const Stretch& stretch, double tolerance) {
  const double median = MedianOfBlocks(stretch.blocks);
  size_t elsewhere = 0;
  for (const Level& level : stretch.levels) {
    if (!Equal(level.median, median, tolerance)) elsewhere += level.end - level.begin;
  }
  SteadyLevel found;
  if (IsLarge(elsewhere, stretch.blocks.size())) return found;
  // As much is tolerated over the whole series: a short stretch of a slope is short, not flat.
  found.drift = DriftOf(stretch.blocks);
  const double share =
      static_cast<double>(stretch.blocks.size()) / static_cast<double>(stretch.whole);
  if (std::abs(found.drift) > tolerance * share) {
    found.steadiness = Steadiness::kDrifting;
  } else if (HasTwoGroups(stretch.iterations, tolerance)) {
    // A group that lies in one piece is a level that came late.
    const bool in_pieces = !IsLarge(2 * elsewhere, stretch.blocks.size());
    found.steadiness = in_pieces ? Steadiness::kBimodal : Steadiness::kNotSteady;
  } else {
    found.steadiness = Steadiness::kSteady;
  }
  return found;
}

}  // namespace

std::string_view ToString(Steadiness steadiness) {
  switch (steadiness) {
    case Steadiness::kSteady:
      return "yes";
    case Steadiness::kNotSteady:
      return "no";
    case Steadiness::kDrifting:
      return "drifting";
    case Steadiness::kBimodal:
      return "bimodal";
  }
  return "";
}

std::optional<SteadyLevel> FindSteadyState(std::span<const int64_t> iterations, double tolerance) {
  if (iterations.size() < kFewestIterations) return std::nullopt;
  const size_t size = (iterations.size() + kMostBlocks - 1) / kMostBlocks;
  const std::vector<double> blocks = BlockMedians(iterations, size);
  const std::vector<Level> levels = LevelsOf(blocks, tolerance);
  SteadyLevel state;
  for (size_t i = 0; i < levels.size(); ++i) {
    const size_t begin = levels[i].begin;
    if ((blocks.size() - begin) * 3 < blocks.size()) break;
    state = Judge({std::span(levels).subspan(i), std::span(blocks).subspan(begin),
                   iterations.subspan(begin * size), blocks.size()},
                  tolerance);
    state.warmup_iterations = static_cast<int>(begin * size);
    if (state.steadiness == Steadiness::kSteady) return state;
  }
  state.warmup_iterations = static_cast<int>(iterations.size());
  if (Returns(levels, tolerance, blocks.size())) {
    state.steadiness = Steadiness::kBimodal;
  } else if (const double stairs = StairsOf(levels, blocks.size()); stairs != 0) {
    state.steadiness = Steadiness::kDrifting;
    state.drift = stairs;
  }
  return state;
}

Outliers CountOutliers(std::span<const int64_t> samples) {
  if (samples.empty()) return {};
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double low = Quantile(sorted, 0.25), high = Quantile(sorted, 0.75);
  const auto count_beyond = [&](double ranges) {
    const double fence = ranges * (high - low);
    return static_cast<int>(std::count_if(sorted.begin(), sorted.end(), [&](double value) {
      return value < low - fence || value > high + fence;
    }));
  };
  return {count_beyond(1.5), count_beyond(3)};
}

}  // namespace perfgate
