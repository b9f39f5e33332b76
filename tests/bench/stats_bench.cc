// How often the statistics of the gate are wrong, by simulation: what src/stats/stats.h promises.
// Prints tables; exits with 1 if a stated rate is exceeded. Fixed seeds: the same numbers every
// time.
//
//   stats_bench [TRIALS [RECORDINGS]]     trials of each kind, 4000 if not given; RECORDINGS:
//                                         tests/data/time, for the table of docs/time.md
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

#include "stats/stats.h"
#include "unit/stats_recordings.h"

namespace perfgate {
namespace {

bool exceeded = false;

// Two standard errors of so many trials are no evidence of a higher rate.
void Check(const std::string& what, double rate, double stated, int trials) {
  if (rate <= stated + 2 * std::sqrt(stated * (1 - stated) / trials)) return;
  fmt::print("EXCEEDED: {}: {:.2f} %, stated {:.2f} %\n", what, 100 * rate, 100 * stated);
  exceeded = true;
}

struct Rates {
  double fail = 0, pass = 0, inconclusive = 0;
};

Rates RatesOf(int trials, const std::function<PairsVerdict(Noise&)>& verdict) {
  Noise noise(20240607);
  int counts[3] = {};
  for (int i = 0; i < trials; ++i) ++counts[static_cast<int>(verdict(noise))];
  const double n = trials;
  return {counts[static_cast<int>(PairsVerdict::kFail)] / n,
          counts[static_cast<int>(PairsVerdict::kPass)] / n,
          counts[static_cast<int>(PairsVerdict::kInconclusive)] / n};
}

PairsVerdict Compared(Noise& noise, const Machine& machine, double change, double tolerance) {
  const Pairs pairs = MeasurePairs(noise, machine, kComparisonPairs, change);
  return ComparePairs(pairs.base, pairs.head, {.tolerance = tolerance}).verdict;
}

PairsVerdict Staged(Noise& noise, const Machine& machine, double change, double tolerance) {
  return DecideInRounds(tolerance,
                        [&](int count) { return MeasurePairs(noise, machine, count, change); });
}

void PrintComparisons(int trials) {
  fmt::print("{} pairs of runs: failed / passed / inconclusive, in %\n", kComparisonPairs);
  fmt::print("{:<22}{:>6}{:>20}{:>20}{:>20}{:>20}\n", "machine", "tol.", "unchanged", "+5 %",
             "+8 %", "staged, unchanged");
  for (const double tolerance : {0.03, 0.05}) {
    for (const Machine& machine : Machines()) {
      std::string line = fmt::format("{:<22}{:>4.0f} %", machine.name, 100 * tolerance);
      for (const double change : {0.0, 0.05, 0.08}) {
        const Rates rates = RatesOf(
            trials, [&](Noise& noise) { return Compared(noise, machine, change, tolerance); });
        line += fmt::format("{:>8.2f}{:>6.1f}{:>6.1f}", 100 * rates.fail, 100 * rates.pass,
                            100 * rates.inconclusive);
        if (change == 0) Check(machine.name + ", unchanged, failed", rates.fail, 0.01, trials);
        if (change > tolerance) Check(machine.name + ", slower, passed", rates.pass, 0.05, trials);
      }
      const Rates rates =
          RatesOf(trials, [&](Noise& noise) { return Staged(noise, machine, 0, tolerance); });
      line += fmt::format("{:>8.2f}{:>6.1f}{:>6.1f}", 100 * rates.fail, 100 * rates.pass,
                          100 * rates.inconclusive);
      Check(machine.name + ", staged, unchanged, failed", rates.fail, 0.01, trials);
      fmt::print("{}\n", line);
    }
  }
}

// Any false fail among 20 comparisons of unchanged code, before and after Holm's correction; with
// hardly any tolerance, so that the size of the change does not guard it.
void PrintFamilies(int trials) {
  constexpr int kFamily = 20;
  const int families = trials / 10;
  fmt::print(
      "\n{} unchanged comparisons at 0.01 % tolerance, any failed: alone, as a family; in %\n",
      kFamily);
  for (const Machine& machine : Machines()) {
    Noise noise(13);
    int alone = 0, together = 0;
    for (int i = 0; i < families; ++i) {
      std::vector<Comparison> family;
      for (int k = 0; k < kFamily; ++k) {
        const Pairs pairs = MeasurePairs(noise, machine, kComparisonPairs, 0);
        family.push_back(ComparePairs(pairs.base, pairs.head, {.tolerance = 1e-4}));
      }
      const auto any_failed = [&] {
        return std::any_of(family.begin(), family.end(), [](const Comparison& comparison) {
          return comparison.verdict == PairsVerdict::kFail;
        });
      };
      alone += any_failed();
      ApplyHolm(family);
      together += any_failed();
    }
    fmt::print("{:<22}{:>6.1f}{:>6.1f}\n", machine.name, 100.0 * alone / families,
               100.0 * together / families);
    Check(machine.name + ", a family, failed", 1.0 * together / families, 0.05, families);
  }
}

void PrintBimodal(int trials) {
  fmt::print("\nTwo groups found in 12 runs, in %\n");
  for (const Machine& machine : Machines()) {
    Noise noise(5);
    int found = 0;
    for (int i = 0; i < trials; ++i) {
      found += FindTwoLevels(MeasurePairs(noise, machine, 12, 0).base).has_value();
    }
    fmt::print("{:<22}{:>6.1f}\n", machine.name, 100.0 * found / trials);
  }
}

using Series = std::vector<double>;

// A series of runs of one machine; from `from` on, until `until`, it is slower.
Series RunsOf(Noise& noise, const Machine& machine, size_t count, double change, size_t from,
              size_t until) {
  Series series;
  for (size_t i = 0; i < count; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(count);
    series.push_back(noise.Run(machine, place) * (i >= from && i < until ? 1 + change : 1));
  }
  return series;
}

void PrintChangePoints(int trials) {
  fmt::print(
      "\nSeries of runs: any change found without one; a change of +5 % within 2 runs of its "
      "place: the last 5, the last 10 runs, 10 in the middle (both ends); in %\n");
  fmt::print("{:<22}{:>6}{:>10}{:>10}{:>10}{:>10}\n", "machine", "runs", "no change", "last 5",
             "last 10", "middle");
  for (const size_t count : {20u, 30u, 50u, 100u, 300u}) {
    for (const Machine& machine : Machines()) {
      const auto found = [&](double change, size_t from, size_t until) {
        Noise noise(11);
        int all = 0;
        for (int i = 0; i < trials / 4; ++i) {
          const Series series = RunsOf(noise, machine, count, change, from, until);
          const std::vector<ChangePoint> changes = FindChangePoints(series);
          const auto has = [&](size_t at) {
            return std::any_of(changes.begin(), changes.end(), [&](const ChangePoint& c) {
              return c.index + 2 >= at && c.index <= at + 2;
            });
          };
          all += change == 0 ? !changes.empty() : has(from) && (until == count || has(until));
        }
        return 100.0 * all / (trials / 4);
      };
      const double unchanged = found(0, 0, 0);
      fmt::print("{:<22}{:>6}{:>10.2f}{:>10.1f}{:>10.1f}{:>10.1f}\n", machine.name, count,
                 unchanged, found(.05, count - 5, count), found(.05, count - 10, count),
                 found(.05, count / 2 - 5, count / 2 + 5));
      if (machine.drift == 0) {
        Check(fmt::format("{}, {} runs, change found", machine.name, count), unchanged / 100, 0.01,
              trials / 4);
      }
    }
  }
}

// Sessions of a series: how they vary, how many of them are slower by half, by chance, and whether
// what slows a session slows the one that is to confirm it as well.
struct Sessions {
  std::string name;
  double deviation = 0.02, slower = 0;
  bool alike = false;
};

double SessionOf(Noise& noise, const Sessions& sessions) {
  const double value = std::exp(sessions.deviation * noise.Normal());
  return value * (noise.Uniform() < sessions.slower ? 1.5 : 1);
}

void PrintHistory(int trials) {
  fmt::print("\n{} sessions, tolerance 5 %: failed / passed / inconclusive, in %\n",
             kHistorySessions);
  fmt::print("{:<34}{:>22}{:>22}{:>22}\n", "sessions", "unchanged", "+5 %", "+10 %");
  for (const Sessions& sessions :
       {Sessions{"vary by 0.5 %", 0.005}, Sessions{"vary by 2 %"}, Sessions{"vary by 3 %", 0.03},
        Sessions{"one of ten slower by half", 0.02, 0.1},
        Sessions{"every other slower by half", 0.02, 0.5},
        Sessions{"vary by 2 %, the second as the first", 0.02, 0, true}}) {
    std::string line = fmt::format("{:<36}", sessions.name);
    for (const double change : {0.0, 0.05, 0.10}) {
      Noise noise(11);
      int counts[4] = {};
      for (int i = 0; i < trials; ++i) {
        Series past(kHistorySessions);
        for (double& value : past) value = SessionOf(noise, sessions);
        const double first = SessionOf(noise, sessions) * (1 + change);
        const double second = sessions.alike ? first : SessionOf(noise, sessions) * (1 + change);
        ++counts[static_cast<int>(CompareWithHistory(past, first, second, 0.05).verdict)];
      }
      const auto percent = [&](HistoryVerdict verdict) {
        return 100.0 * counts[static_cast<int>(verdict)] / trials;
      };
      line += fmt::format("{:>8.2f}{:>7.2f}{:>7.2f}", percent(HistoryVerdict::kFail),
                          percent(HistoryVerdict::kPass), percent(HistoryVerdict::kInconclusive));
      if (change == 0) {
        Check(sessions.name, percent(HistoryVerdict::kFail) / 100, 0.01, trials);
      }
    }
    fmt::print("{}\n", line);
  }
}

struct Shape {
  std::string name;
  Steadiness right;
  std::function<double(double place)> level;  // place from 0 to 1
  double mode = 0;                            // every second iteration, by chance
};

void PrintSteadiness(int trials) {
  const std::vector<Shape> shapes = {
      {"flat", Steadiness::kSteady, [](double) { return 1.0; }},
      {"warm-up, 10 % long", Steadiness::kSteady, [](double p) { return p < .1 ? 1.3 : 1.0; }},
      {"exponential warm-up", Steadiness::kSteady, [](double p) { return 1 + std::exp(-30 * p); }},
      {"slow-down at a half", Steadiness::kSteady, [](double p) { return p < .5 ? 1.0 : 1.1; }},
      {"step near the end", Steadiness::kNotSteady, [](double p) { return p < .8 ? 1.0 : 1.1; }},
      {"drift of 10 %", Steadiness::kDrifting, [](double p) { return 1 + .1 * p; }},
      {"drift of 40 %", Steadiness::kDrifting, [](double p) { return 1 + .4 * p; }},
      {"levels by turns", Steadiness::kBimodal,
       [](double p) { return int(p * 8) % 2 == 0 ? 1.0 : 1.2; }},
      {"modes by chance", Steadiness::kBimodal, [](double) { return 1.0; }, .3}};
  fmt::print("\nIterations of one process: steady / not / drifting / bimodal, in %\n");
  for (const size_t count : {50u, 200u, 1000u, 5000u}) {
    for (const Machine& machine : {Machines()[0], Machines()[1], Machines()[2]}) {
      for (const Shape& shape : shapes) {
        Noise noise(3);
        int counts[4] = {};
        double warmup = 0;
        const int few = count > 1000 ? trials / 40 : trials / 10;
        for (int i = 0; i < few; ++i) {
          const std::vector<double> times = noise.Iterations(machine, count);
          std::vector<int64_t> series;
          for (size_t k = 0; k < count; ++k) {
            const double mode = shape.mode > 0 && noise.Uniform() < .5 ? 1 + shape.mode : 1;
            const double place = static_cast<double>(k) / static_cast<double>(count);
            series.push_back(std::llround(1e5 * times[k] * mode * shape.level(place)));
          }
          const SteadyLevel state = *FindSteadyState(series);
          ++counts[static_cast<int>(state.steadiness)];
          warmup += static_cast<double>(state.warmup_iterations) / few;
        }
        fmt::print("{:<8}{:>6}  {:<22}{:>7.1f}{:>7.1f}{:>7.1f}{:>7.1f}   warm-up {:>7.1f}{}\n",
                   machine.name, count, shape.name, 100. * counts[0] / few, 100. * counts[1] / few,
                   100. * counts[2] / few, 100. * counts[3] / few, warmup,
                   counts[static_cast<int>(shape.right)] * 2 < few ? "   <- wrong" : "");
      }
    }
  }
}

struct Recorded {
  std::string what, file, workload;
  RecordedTime time;
};

std::vector<Recorded> AllRecorded() {
  return {{"H200, bound by launches: latency", "h200", "launch_bound", RecordedTime::kLatency},
          {"the same: dispatch", "h200", "launch_bound", RecordedTime::kDispatch},
          {"H200, bound by the GPU: latency", "h200", "gpu_bound", RecordedTime::kLatency},
          {"the same: the GPU's own clock", "h200", "gpu_bound", RecordedTime::kDeviceLatency},
          {"CPU, two busy cores: latency", "cpu", "cpu_bound", RecordedTime::kLatency}};
}

Recording Read(const std::string& folder, const Recorded& recorded) {
  return ReadRecording(folder + "/" + recorded.file + "_processes.txt", recorded.workload,
                       recorded.time);
}

const std::vector<std::pair<std::string, std::string>> kPlanted = {
    {"same", "nothing"}, {"slower", "+5 %"}, {"much_slower", "+15 %"}};

// A thousand comparisons drawn from recorded processes, as a table of Markdown.
void PrintRecordings(const std::string& folder) {
  constexpr int kDraws = 1000;
  fmt::print("\n| recorded | processes a side | noise of a pair | planted |");
  fmt::print(" fails | passes | inconclusive |\n|---|---|---|---|---|---|---|\n");
  for (const Recorded& recorded : AllRecorded()) {
    const Recording recording = Read(folder, recorded);
    for (const auto& [series, planted] : kPlanted) {
      if (!recording.contains(series)) continue;
      const VerdictCounts counts = CountDrawn(recording, series, 0.02, kDraws);
      const double noise = ComparePairs(recording.at("base"), recording.at(series)).noise;
      fmt::print("| {} | {} | {:.1f} % | {} | {} | {} | {} |\n", recorded.what,
                 recording.at(series).size(), 100 * noise, planted, counts.failed, counts.passed,
                 counts.inconclusive);
      if (series == "same") Check(recorded.what, 1.0 * counts.failed / kDraws, 0.01, kDraws);
    }
  }
}

// What is rare shows in many draws only: a fail of the same code, a pass of slower code.
void PrintWrongVerdicts(const std::string& folder) {
  constexpr int kDraws = 20'000;
  fmt::print("\nWrong verdicts of {} draws; at most, 95 % sure\n", kDraws);
  for (const Recorded& recorded : AllRecorded()) {
    const Recording recording = Read(folder, recorded);
    for (const auto& [series, planted] : kPlanted) {
      if (!recording.contains(series)) continue;
      const VerdictCounts counts = CountDrawn(recording, series, 0.02, kDraws);
      const int wrong = series == "same" ? counts.failed : counts.passed;
      fmt::print("{:<34}{:>8}{:>6}{:>9.3f} %\n", recorded.what, planted, wrong,
                 100 * UpperBoundOfRate(wrong, kDraws));
      const double stated = series == "same" ? 0.01 : 0.0005;
      Check(recorded.what + ", " + planted, 1.0 * wrong / kDraws, stated, kDraws);
    }
  }
}

}  // namespace
}  // namespace perfgate

int main(int count, char** words) {
  const int trials = count > 1 ? std::atoi(words[1]) : 4000;
  if (trials < 100) {
    std::fputs("usage: stats_bench [TRIALS >= 100 [RECORDINGS]]\n", stderr);
    return 2;
  }
  perfgate::PrintComparisons(trials);
  perfgate::PrintFamilies(trials);
  perfgate::PrintBimodal(trials);
  perfgate::PrintChangePoints(trials);
  perfgate::PrintHistory(trials);
  perfgate::PrintSteadiness(trials);
  if (count > 2) {
    perfgate::PrintRecordings(words[2]);
    perfgate::PrintWrongVerdicts(words[2]);
  }
  return perfgate::exceeded ? 1 : 0;
}
