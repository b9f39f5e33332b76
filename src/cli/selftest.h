// The gate tested by itself: known regressions planted into built-in workloads, measured and judged
// by the road of `perfgate run --against`, with the same code as the base.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "judge/judge.h"

namespace perfgate::cli {

enum class Group {
  kUnchanged,  // must stay green
  kStructure,  // another structure: an exact rule must fail
  kNumbers,    // other numbers: a rule on numerics must fail
  kTime,       // the same structure, slower: the rule on times must, if the machine can tell it
};

// A workload with what is planted into it.
struct Planted {
  Group group = Group::kUnchanged;
  std::string workload;  // "decode"
  Case declared;
  std::string defect;  // in words: "a copy of a tensor (clone)"
  double size = 0;     // of a slowdown, as a part of a step or of the cache; 0: none
};

// Writes the suite and its rules into `folder`; `runner` is perfgate-torch.
void WriteSelftestSuite(const std::filesystem::path& folder, const std::string& runner);

// Of the suite's cases: unchanged ones, and those with a defect. `step_ns` is the p50 of geglu
// without one: delays are parts of it.
std::vector<Planted> UnchangedCases(const std::vector<Case>& cases);
std::vector<Planted> StructureCases(const std::vector<Case>& cases, bool on_gpu);
std::vector<Planted> NumbersCases(const std::vector<Case>& cases);
std::vector<Planted> DelayCases(const std::vector<Case>& cases, double step_ns);
std::vector<Planted> CacheCases(const std::vector<Case>& cases);

// The tolerance of the rule on times.
inline constexpr double kSelftestTolerance = 0.05;
// A slowdown of less than this is not held against the gate if it is missed.
inline constexpr double kPlainSlowdown = 3 * kSelftestTolerance;

enum class Caught { kYes, kNo, kUndecided, kNotMeasured };

struct SelftestResult {
  Planted planted;
  Caught caught = Caught::kNo;
  std::vector<std::string> by, warned_by;  // rules that failed, that warned
  std::optional<double> slower;            // p50 of head to base less 1, as it was measured
  std::string said;                        // why it was not measured
  bool unconfirmed = false;                // undecided for lack of time, not for noise
};

SelftestResult ResultOf(const Planted& planted, const CaseVerdict& verdict);

struct SelftestReport {
  std::string device, stack;
  std::vector<SelftestResult> results;

  // Promised and not caught: of a defect that the packs are for, of a plain slowdown that passed as
  // none, of unchanged code that failed.
  static bool IsBroken(const SelftestResult& result);
  // 3: something could not be measured; 1: a promise was broken; else 0.
  int ExitCode() const;
};

// Text, Markdown or JSON (schema "perfgate.selftest/1").
std::string AsText(const SelftestReport& report, Format format);

}  // namespace perfgate::cli
