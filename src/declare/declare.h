// perfgate.yaml and rule files as validated structs; the one door to yaml-cpp.
//
// Every mistake of a file is found in one go and said with file:line:column, the key, what was
// expected and the nearest known key. After loading nothing needs to be checked again.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attempt/attempt.h"
#include "base/error.h"
#include "base/units.h"
#include "kernel/kernel.h"
#include "metric/metric.h"

namespace perfgate {

enum class Severity { kOff, kWarn, kError };
enum class DeviceFilter { kAny, kCpu, kCuda };
std::string_view ToString(Severity severity);
std::string_view ToString(DeviceFilter filter);

// A step of tolerance: "+3%" (relative) or "+2us", "+0" (absolute, in the metric's unit).
struct Allowance {
  double value = 0;
  bool relative = false;
  std::string text;  // as written, for reports
  bool operator==(const Allowance&) const = default;
};

// A bound for outputs of one element type.
struct DtypeBound {
  std::string dtype;  // "bf16"
  double at_most = 0;
  bool operator==(const DtypeBound&) const = default;
};

// limit: this run alone. Bounds in the metric's unit.
struct LimitCheck {
  std::optional<double> at_most, at_least;
  std::string text;
  std::vector<DtypeBound> by_dtype{};  // in place of at_most, for errors of outputs
};
// change: against the baseline. Fails only if all allowances are exceeded. `at_most` bounds a rise,
// `at_least` (negative allowances) bounds a fall.
struct ChangeCheck {
  std::vector<Allowance> at_most, at_least;
};
// regression: statistical, for noisy metrics.
struct RegressionCheck {
  double tolerance = 0;  // fraction
};

// history: against the stored runs of a branch.
struct HistoryCheck {
  double tolerance = 0;  // fraction
  int sessions = 20;
  std::string branch = "main";
  std::string
      since{};  // run id or commit from which on the first sessions count; "": the newest do
};

// Selects kernel rows. Empty members select everything.
struct KernelSelector {
  std::vector<Family> family;
  std::string name;   // glob on the exact or the canonical name
  std::string under;  // glob on any operator of the launching path
  std::vector<std::string> in_dtype, out_dtype, library, epilogue, layout;
  std::vector<std::string> ops;  // the fused set holds all of these
  std::optional<bool> tensor_core;
  std::optional<bool> split_k;
  bool operator==(const KernelSelector&) const = default;
};

struct CountBound {
  std::optional<int64_t> at_most, at_least;  // both equal: an exact number
};

// kernels: a statement on the rows that `among` selects. Launches a step are counted.
struct KernelsCheck {
  KernelSelector among;
  std::optional<CountBound> count;
  std::optional<KernelSelector> all, none;
};

// fusion: `fused` launches a step hold all of ops, `apart` launches hold some but not all.
struct FusionCheck {
  std::vector<std::string> ops;
  std::optional<CountBound> fused, apart;
};

// changes: how many changes of these kinds the diff may have.
struct ChangesCheck {
  std::vector<ChangeKind> kinds;
  CountBound count;
  std::optional<bool> narrower{};  // of dtype_changed: only to narrower elements, or only others
};

using Check = std::variant<LimitCheck, ChangeCheck, RegressionCheck, HistoryCheck, KernelsCheck,
                           FusionCheck, ChangesCheck>;

struct Waiver {
  std::string until;  // "2027-01-31", UTC, the last day on which it holds
  std::string reason;
  std::string owner;               // who sees to it; "": not said
  std::string cases;               // glob; "" is all
  std::optional<Allowance> up_to;  // with a metric: hides a failure only up to here
};

struct Rule {
  std::string id;       // "no-extra-kernel"
  std::string full_id;  // "perfgate:structure/no-extra-kernel", "rules/mine.yaml/p50"
  std::string why;
  std::string cases = "*";
  DeviceFilter device = DeviceFilter::kAny;
  Severity severity = Severity::kError;
  bool optional = false;
  bool aggregate_max = false;  // judge the largest step of an unstable metric
  bool require_paired = false;
  bool require_history = false;
  std::vector<MetricId> metrics;  // for checks on metrics; each where it is available
  std::map<std::string, std::vector<std::string>> covers;  // opaque kernel glob -> its operators
  std::optional<Waiver> waive;
  Check check;
  bool from_pack = false;
  Where where;
};

// Whether a rule is for a case that ran on `device_kind`: "cpu" or "cuda"; of any other, nothing
// rules it out.
bool IsForDevice(const Rule& rule, std::string_view device_kind);
// The rule is on, and for this case on this device.
bool Concerns(const Rule& rule, std::string_view case_name, std::string_view device_kind);

struct Suite {
  std::string name;
  std::filesystem::path file;    // as given
  std::filesystem::path folder;  // where commands run
  bool no_baseline_warns = false;
  int64_t budget_ns = 0;                  // for pairs of base and head; 0: without a limit
  std::vector<Case> cases;                // matrix expanded, in declared order
  std::vector<std::string> rule_sources;  // "perfgate:structure", "rules/mine.yaml"
  std::vector<Rule> rules;                // overrides applied, `off` ones kept
  std::filesystem::path baselines;        // absolute or relative to `folder`
};

struct LoadOptions {
  std::string torch_runner = "perfgate-torch";  // argv[0] of `torch:` workloads
  // Rule files that are read elsewhere than where the suite says, by the place that it says.
  std::map<std::string, std::filesystem::path> moved_rules{};
};

// Throws Error(kConfig) whose text lists all mistakes, one a line, each with file:line:column.
Suite LoadSuite(const std::filesystem::path& file, const LoadOptions& options = {});

// What a suite names, as far as it can be read: its mistakes are for LoadSuite to say. Paths are
// absolute or start with the suite's folder.
struct NamedFiles {
  std::vector<std::filesystem::path> rules;   // files; packs are none
  std::vector<std::filesystem::path> traces;  // that are judged as they are
  std::filesystem::path baselines;            // the folder
};
NamedFiles FilesNamedBy(const std::filesystem::path& suite_file);

// Rules of packs ("perfgate:fusion") and files, overrides applied. Relative files are under
// `folder`. Throws Error(kConfig) like LoadSuite.
std::vector<Rule> LoadRules(const std::vector<std::string>& sources,
                            const std::filesystem::path& folder);

// Packs shipped in the binary: names ("perfgate:structure") and their YAML text.
std::vector<std::string> PackNames();
std::string_view PackText(std::string_view name);
// JSON Schemas shipped in the binary: "suite", "rules", "samples" ... Empty text if unknown.
std::vector<std::string> SchemaNames();
std::string_view SchemaText(std::string_view name);

}  // namespace perfgate
