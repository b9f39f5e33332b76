// Processes that were recorded on real machines (tests/data/time), and comparisons drawn from them.
#pragma once

#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "stats_noise.h"

namespace perfgate {

// What tests/gpu/time_record.py keeps of a process: medians over its iterations.
enum class RecordedTime { kLatency, kDispatch, kDeviceLatency };

// One value a process, in ns: those of one place ran within the same seconds, one of each series.
using Recording = std::map<std::string, std::vector<double>>;

// The processes of a workload in MACHINE_processes.txt, `#` begins a line of no values:
// `workload run round series latency [dispatch [device latency]]`.
inline Recording ReadRecording(const std::string& path, const std::string& workload,
                               RecordedTime time) {
  std::ifstream file(path);
  Recording recording;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, series;
    int run = 0, round = 0;
    if (!(words >> name) || name != workload) continue;
    words >> run >> round >> series;
    double value = 0;
    for (int i = 0; i <= static_cast<int>(time); ++i) words >> value;
    if (!words) throw std::runtime_error(path + ": " + line);
    recording[series].push_back(value);
  }
  if (recording.empty()) throw std::runtime_error(path + ": no process of " + workload);
  return recording;
}

// What the gate says of `head` against `base` by rounds that are drawn at random, each once: a
// screening, and where it asks for them confirmations by fresh pairs.
inline PairsVerdict DrawVerdict(const Recording& recording, const std::string& head,
                                double tolerance, Noise& noise) {
  const std::vector<double>& base = recording.at("base");
  std::vector<size_t> left(base.size());
  std::iota(left.begin(), left.end(), size_t{0});
  return DecideInRounds(tolerance, [&](int count) {
    Pairs pairs;
    for (; count > 0; --count) {
      const auto place = static_cast<size_t>(noise.Uniform() * static_cast<double>(left.size()));
      const size_t drawn = left.at(place);
      std::swap(left[place], left.back());
      left.pop_back();
      pairs.base.push_back(base[drawn]);
      pairs.head.push_back(recording.at(head)[drawn]);
    }
    return pairs;
  });
}

// How often each verdict comes, of `draws` comparisons. Each has random numbers of its own, so that
// another rule of the gate is tried on the same draws.
struct VerdictCounts {
  int failed = 0, passed = 0, inconclusive = 0;
};

inline VerdictCounts CountDrawn(const Recording& recording, const std::string& head,
                                double tolerance, int draws) {
  VerdictCounts counts;
  for (int i = 0; i < draws; ++i) {
    Noise noise(20261130 + static_cast<uint64_t>(i));
    const PairsVerdict verdict = DrawVerdict(recording, head, tolerance, noise);
    counts.failed += verdict == PairsVerdict::kFail;
    counts.passed += verdict == PairsVerdict::kPass;
    counts.inconclusive += verdict == PairsVerdict::kInconclusive;
  }
  return counts;
}

}  // namespace perfgate
