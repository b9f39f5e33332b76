// Rules -> findings -> verdict. Pure: no clock, no files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibration/calibration.h"
#include "declare/declare.h"
#include "diff/diff.h"
#include "evidence/evidence.h"
#include "review/review.h"
#include "stats/stats.h"

namespace perfgate {

enum class Status {
  kPass,
  kImproved,
  kWarn,
  kFail,
  kInconclusive,
  kError,
  kMissing,
  kNotComparable,
  kSuspicious,
  kSkipped,
  kWaived,
};
std::string_view ToString(Status status);  // "not_comparable"
// Larger is worse. Skipped weighs least: it says nothing.
int Weight(Status status);

// What a finding that is not comparable, or missing, has nothing of to be compared with.
enum class Lack {
  kBaseline,
  kPairs,     // of processes of base and head
  kSameWork,  // such pairs are there, of other work
  kHistory,   // stored runs enough
  kSince,     // they are there, and none is of the rule's `since`
};
std::string_view ToString(Lack lack);  // "same_work"

// A metric against the sessions of a stored series.
struct PastTimes {
  int sessions = 0;  // that it is compared with
  std::string first_run, last_run;
  bool wants_session = false;  // slower than tolerated, and a second session is left
  HistoryComparison comparison;
};

struct Finding {
  std::string rule;  // full id
  std::string case_name;
  Where where;  // of the rule
  Severity severity = Severity::kError;
  Status status = Status::kPass;
  Lack lacks = Lack::kBaseline;      // where it is not comparable or missing
  std::optional<MetricId> metric;    // a rule on several metrics has one finding a metric
  std::optional<double> base, head;  // in the metric's unit; counts for kernel and change checks
  std::string limit;                 // "at most +0", "fused 1, apart 0"
  std::optional<double> delta;
  std::optional<PairedTimes> times;  // of `regression`, where there are pairs
  std::optional<PastTimes> past;     // of `history`, where there are sessions
  std::string message;               // one line: "cpu_kernels 4 -> 5 a step (at most +0)"
  std::string why;                   // the rule's
  std::string next;                  // a command to type or a thing to do; "" if nothing
  std::vector<int> changes;          // indices into the case's diff
  std::vector<int> slower;  // indices into the diff's `slower`: what a rise of a time comes from
  std::vector<std::string> operators;
  std::vector<std::string> kernels;  // exact names that a kernels/fusion check points at
  std::optional<OutputRow> output;   // of the case, that a limit on numerics points at
};

// A stored run of a case, for rules on a series of them.
struct PastSession {
  std::string run, started, commit, branch;
  bool dirty = false;
  bool quick = false;
  Windows windows;    // as measured
  Evidence evidence;  // without rows; without a case's name where the run did not measure the case
};

// What the judge gets of one case.
struct CasePair {
  Case declared;
  Evidence head;
  std::optional<Evidence> base;  // the baseline's; empty if missing
  bool comparable = false;       // base is of the same key
  std::vector<std::string> key_differences;
  std::optional<Diff> diff;       // where base is there
  std::string base_label;         // commit or file of the baseline
  std::vector<PairRound> rounds;  // of this case: pairs, or second sessions of head alone
  bool quick = false;             // measured by --quick
  Windows windows;                // as measured
  std::string run, commit;        // of head
  // Finished runs that began before this one, oldest first; of any branch.
  std::vector<PastSession> past;
  // Where head.base_side is there: what was measured in pairs.
  int64_t budget_ns = 0;                  // 0: without a limit
  std::vector<Calibration> calibrations;  // of this case on this machine, one a metric
  std::string different_work;             // why base and head are not the same work; "" if they are
};

// Whether the session counts for a `history` rule on the session's branch: by what is known without
// its times, and with them.
bool MayCount(const PastSession& session, const CasePair& pair);
bool IsCounted(const PastSession& session, const CasePair& pair, MetricId id);
// Whether a run of a commit is the one that `since` of a `history` rule names, or of that commit.
bool IsOf(const std::string& run, const std::string& commit, const std::string& since);

struct CaseVerdict {
  std::string case_name;
  bool declared = true;           // false: only its baseline is left
  Status status = Status::kPass;  // worst of its findings
  std::vector<Finding> findings;
  std::vector<std::string> key_differences;
  std::vector<std::string> notes;
  std::vector<std::string> incomplete_because;
  std::optional<Diff> diff;
  std::string device_kind, device_name;
  std::string plant;
  std::vector<Fallback> fallback;
  std::vector<std::string> attempts;  // folders of the head's attempts; filled by the caller
};

enum class Result { kPass, kFail, kError, kInconclusive, kNotComparable };
std::string_view ToString(Result result);

struct Verdict {
  Result result = Result::kPass;
  int exit_code = 0;
  std::vector<CaseVerdict> cases;
  std::vector<std::string> problems;  // of the whole run: no case, no rule ...
  // For headings; filled by the caller.
  std::string suite, device, stack, base_label, head_label, run_id;
  std::string suite_file;     // as it was given; "": there is no suite
  std::string measured_base;  // commit or folder of the base that was measured in pairs; or ""
  bool no_baseline_warns = false;
  int rules = 0;
  int declared_cases = 0;        // of the suite; 0: there is no suite
  bool quick = false;            // measured by --quick
  std::optional<Review> review;  // of suite, rules and baselines; empty: no base was named
};

// Sets exit code and result by the cases and the problems, precedence 3 > 1 > 4 > 0. Whoever adds a
// case or a problem to a verdict calls it.
void Settle(Verdict& verdict);

struct Policy {
  std::string today;  // "2027-01-31", UTC
  bool no_baseline_warns = false;
  bool bare_diff = false;  // `perfgate diff`: vanished work is said, not failed;
                           // rules that need what bare traces lack are skipped
};

// Every rule x case has at least one finding, and a case that every rule skipped one more: an
// error.
Verdict Judge(std::span<const Rule> rules, std::span<const CasePair> cases, const Policy& policy);

}  // namespace perfgate
