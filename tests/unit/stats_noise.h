// Machines that are never at rest: the noise model of the simulations. Fixed seeds and our own
// normal numbers, so that every library gives the same ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stats/stats.h"

namespace perfgate {

struct Machine {
  std::string name;
  double run = 0.01;         // standard deviation of one process run, relative
  double iteration = 0.01;   // of one iteration within it
  double correlation = 0.3;  // of an iteration with the next one
  double drift = 0;          // over a whole session
  double mode = 0;           // every second run, by chance, is slower by this
  bool heavy_tails = false;  // run effects of Student's t distribution with 2 degrees of freedom
};

inline std::vector<Machine> Machines() {
  return {{"quiet", .005, .01, .3},
          {"shared", .015, .02, .5},
          {"noisy", .027, .03, .6},
          {"drifting by 4 %", .015, .02, .5, .04},
          {"bimodal, 5 % apart", .01, .02, .5, 0, .05},
          {"bimodal, 50 % apart", .01, .02, .5, 0, .5},
          {"heavy-tailed", .015, .02, .5, 0, 0, true}};
}

class Noise {
 public:
  explicit Noise(uint64_t seed) : engine_(seed) {}

  double Uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
  double Normal() {
    return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * std::numbers::pi * Uniform());
  }
  double HeavyTailed() {
    const double square = -std::log(Uniform());  // of two normal numbers, halved
    return Normal() / std::sqrt(square);
  }

  // Times of the iterations of one process, about 1, with single slow ones.
  std::vector<double> Iterations(const Machine& machine, size_t count) {
    std::vector<double> times(count);
    const double fresh = std::sqrt(1 - machine.correlation * machine.correlation);
    double error = Normal();
    for (double& time : times) {
      error = machine.correlation * error + fresh * Normal();
      time = std::exp(machine.iteration * error) * (Uniform() < 0.02 ? 1 + Uniform() : 1);
    }
    return times;
  }

  // The median of a process run of 50 iterations; `place` in the session, from 0 to 1.
  double Run(const Machine& machine, double place) {
    std::vector<double> times = Iterations(machine, 50);
    std::nth_element(times.begin(), times.begin() + 25, times.end());
    const double run = machine.run * (machine.heavy_tails ? HeavyTailed() : Normal());
    return times[25] * std::exp(run + machine.drift * place) *
           (machine.mode > 0 && Uniform() < 0.5 ? 1 + machine.mode : 1);
  }

 private:
  std::mt19937_64 engine_;
};

struct Pairs {
  std::vector<double> base, head;
};

// Base and head side by side, the order within each pair by chance; head is slower by `change`.
inline Pairs MeasurePairs(Noise& noise, const Machine& machine, int count, double change) {
  Pairs pairs;
  for (int i = 0; i < count; ++i) {
    const bool base_first = noise.Uniform() < 0.5;
    const double first = noise.Run(machine, 2.0 * i / (2.0 * count));
    const double second = noise.Run(machine, (2.0 * i + 1) / (2.0 * count));
    pairs.base.push_back(base_first ? first : second);
    pairs.head.push_back((base_first ? second : first) * (1 + change));
  }
  return pairs;
}

// What the gate says of one metric by `measure(count)`, which gives so many fresh pairs: screened,
// and confirmed where the screening asks for it.
template <typename Measure>
PairsVerdict DecideInRounds(double tolerance, Measure measure) {
  PairedMetric metric;
  metric.tolerance = tolerance;
  int wanted = kScreeningPairs;
  while (true) {
    Pairs pairs = measure(wanted);
    metric.rounds.push_back({wanted, std::move(pairs.base), std::move(pairs.head)});
    const PairedTimes times = CompareFamily(std::span(&metric, 1)).front();
    if (!times.wants_pairs) return times.comparison.verdict;
    wanted = times.pairs_wanted;
  }
}

}  // namespace perfgate
