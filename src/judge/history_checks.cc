// `history`: a time against the stored sessions of a branch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "judge/checks.h"
#include "judge/next_step.h"
#include "judge/past_sessions.h"

namespace perfgate {
namespace {

// "10.0 % above"; less than half of the last digit is no difference.
std::string Above(double rise) {
  if (std::abs(rise) < 0.0005) return "at";
  return fmt::format("{:.1f} % {}", std::abs(rise) * 100, rise > 0 ? "above" : "below");
}

// "20 sessions of main from 1a2b3c4 on"
std::string SessionsText(const HistoryCheck& check, size_t count) {
  return fmt::format("{} of {}{}", Plural(static_cast<int64_t>(count), "session"),
                     Printable(check.branch),
                     check.since.empty() ? "" : fmt::format(" from {} on", check.since));
}

// The run that is judged is the first of the rule's `since`.
bool Begins(const HistoryCheck& check, const CasePair& pair, const SessionSeries& series) {
  return !series.since_found && IsOf(pair.run, pair.commit, check.since);
}

std::string TooFew(const HistoryCheck& check, const CasePair& pair, const SessionSeries& series) {
  std::string text;
  if (series.since_found) {
    text = fmt::format("this machine and stack have {}, and the rule needs {}",
                       SessionsText(check, series.values.size()), check.sessions);
  } else {
    text = fmt::format("{} is of {}, from which on it compares",
                       Begins(check, pair, series) ? "no stored run but this one"
                                                   : "no stored run before this one",
                       check.since);
  }
  if (!series.left_out.empty()) {
    text += fmt::format(" (not counted: {})", Join(series.left_out, ", "));
  }
  return text;
}

// Where the series rose, if it shows, for what is slower now may have come with it; else how the
// newest session was, behind which it came.
std::string WhereItCame(const SessionSeries& series) {
  Trend trend = series.trend;
  trend.points.erase(trend.points.begin(),
                     trend.points.begin() + static_cast<ptrdiff_t>(series.begin));
  FindChanges(trend);
  for (auto change = trend.changes.rbegin(); change != trend.changes.rend(); ++change) {
    if (change->after <= change->before) continue;
    return fmt::format("; it rose {}, {}", PlaceOf(*change, trend), SizeOf(*change, trend));
  }
  const TrendPoint& newest = trend.points.back();
  return fmt::format("; the newest session, of {}, had {}",
                     Printable(newest.short_commit.empty() ? newest.run : newest.short_commit),
                     ValueOf(newest, trend.metric));
}

// "; the limit is 6.3 %"
std::string Conclusion(const HistoryComparison& comparison, double tolerance) {
  const std::string limit = fmt::format("{:.1f} %", comparison.limit * 100);
  switch (comparison.verdict) {
    case HistoryVerdict::kPass:
      return comparison.second ? "; that does not confirm it, the limit is " + limit
                               : "; it fails from " + limit + " on";
    case HistoryVerdict::kFail:
      return "; the limit is " + limit;
    case HistoryVerdict::kUnconfirmed:
      return "; a second session of fresh processes, which would confirm it, was not run";
    case HistoryVerdict::kInconclusive:
      return fmt::format(
          "; beyond the tolerance of {:g} %, but the sessions themselves {}", tolerance * 100,
          comparison.bimodal ? "fall into two groups: it may be of the slower one by chance"
                             : "vary so much that it fails from " + limit + " on");
  }
  return "";
}

// Plain words first, the numbers behind.
std::string InWords(const HistoryCheck& check, const SessionSeries& series, double value,
                    const HistoryComparison& comparison) {
  const Metric& metric = Info(series.trend.metric);
  std::string text = fmt::format("{} is {} the median of {}{}", metric.name,
                                 Above(comparison.first), SessionsText(check, series.values.size()),
                                 series.other_gpus ? " on GPUs of this model" : "");
  if (comparison.second) {
    text += fmt::format(", and {} it in a second session of fresh processes",
                        Above(*comparison.second));
  }
  text += Conclusion(comparison, check.tolerance);
  if (comparison.verdict != HistoryVerdict::kPass) text += WhereItCame(series);
  return text + fmt::format(" ({} -> {}, a session varies by {:.1f} %)",
                            FormatValue(comparison.median, metric.unit),
                            FormatValue(value, metric.unit), comparison.noise * 100);
}

Status StatusOf(HistoryVerdict verdict) {
  switch (verdict) {
    case HistoryVerdict::kPass:
      return Status::kPass;
    case HistoryVerdict::kFail:
      return Status::kFail;
    case HistoryVerdict::kUnconfirmed:
    case HistoryVerdict::kInconclusive:
      return Status::kInconclusive;
  }
  return Status::kInconclusive;
}

Finding WithoutHistory(const Rule& rule, const HistoryCheck& check, Finding finding,
                       const std::string& message) {
  if (!rule.require_history) return With(std::move(finding), Status::kSkipped, message);
  finding.lacks = Lack::kHistory;
  return With(std::move(finding), Status::kNotComparable, message,
              fmt::format("measure {} until there are enough, or {}", Printable(check.branch),
                          EditRule(rule, "'require_history: false'")));
}

// Sessions enough, and a `since` that is none of them: no night to come mends that.
Finding WithoutSince(const Rule& rule, Finding finding, const std::string& message) {
  finding.lacks = Lack::kSince;
  return With(std::move(finding), Status::kNotComparable, message,
              EditRule(rule, "'since' to a run or commit that `perfgate history` lists"));
}

std::string NextStep(const Rule& rule, const HistoryCheck& check, Status status) {
  if (status == Status::kInconclusive) {
    return "measure in pairs by `perfgate run --against DIR`, with a 'regression' rule, or " +
           EditRule(rule, "a larger 'tolerance'");
  }
  if (status != Status::kFail) return "";
  return EditRule(rule, check.since.empty() ? "a 'waive' with its reason, if it is meant,"
                                            : "a later 'since', if it is meant,");
}

}  // namespace

Finding CheckHistory(const HistoryCheck& check, const Rule& rule, const CaseFacts& facts,
                     Finding finding) {
  const MetricId id = *finding.metric;
  const CasePair& pair = facts.pair();
  finding.limit = fmt::format("at most +{:g}%", check.tolerance * 100);
  if (facts.policy().bare_diff) {
    return With(
        std::move(finding), Status::kSkipped,
        fmt::format("{} is judged against stored runs, and traces have none", Info(id).name));
  }
  if (const MetricValue& head = facts.Head(id); !head.unavailable.empty()) {
    return Unavailable(rule, facts, std::move(finding), head.unavailable);
  }
  if (pair.quick) {
    return WithoutHistory(rule, check, std::move(finding),
                          "measured by --quick, which is too short to be compared with a history");
  }
  const std::optional<double> first = SessionValue(pair, id, false);
  const std::string doubt = WhyDoubtful(pair.head, id, first.value_or(0));
  if (!first || !(*first > 0) || !doubt.empty()) {
    return With(
        std::move(finding), Status::kInconclusive,
        fmt::format("{} proves nothing: {}", Info(id).name, doubt.empty() ? "it is 0" : doubt));
  }
  finding.head = *first;
  const SessionSeries series = SeriesOf(check, pair, id);
  const auto needed = static_cast<size_t>(check.sessions);
  if (series.values.size() < needed) {
    const std::string message = TooFew(check, pair, series);
    const bool never =
        !series.since_found && series.trend.points.size() >= needed && !Begins(check, pair, series);
    return never ? WithoutSince(rule, std::move(finding), message)
                 : WithoutHistory(rule, check, std::move(finding), message);
  }
  const HistoryComparison comparison =
      CompareWithHistory(series.values, *first, SessionValue(pair, id, true), check.tolerance);
  finding.base = comparison.median;
  finding.delta = *first - comparison.median;
  finding.past =
      PastTimes{static_cast<int>(series.values.size()), series.trend.points[series.begin].run,
                series.trend.points[series.end - 1].run,
                comparison.verdict == HistoryVerdict::kUnconfirmed && pair.declared.trace.empty(),
                comparison};
  const Status status = StatusOf(comparison.verdict);
  return With(std::move(finding), status, InWords(check, series, *first, comparison),
              NextStep(rule, check, status));
}

}  // namespace perfgate
