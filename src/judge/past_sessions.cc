#include "judge/past_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "judge/checks.h"

namespace perfgate {
namespace {

std::string Recorded(const Evidence& evidence, const std::string& name) {
  const auto found = evidence.key.recorded.find(name);
  return found == evidence.key.recorded.end() ? "" : found->second;
}

bool OnSameMachine(const Evidence& past, const Evidence& head) {
  return past.extractor == head.extractor && past.key.fields == head.key.fields &&
         Recorded(past, "cpu") == Recorded(head, "cpu") &&
         Recorded(past, "driver") == Recorded(head, "driver") &&
         Recorded(past, "clocks") == Recorded(head, "clocks");
}

// Why the session does not count; "" if it does. All that is known without its times.
std::string WhyOfNoUse(const PastSession& session, const CasePair& pair) {
  const Evidence& evidence = session.evidence;
  if (!OnSameMachine(evidence, pair.head)) return "of another machine, stack or definition";
  if (session.dirty) return "with uncommitted changes";
  if (!evidence.plant.empty()) return "with a planted defect";
  if (session.quick) return "measured by --quick";
  if (session.windows != pair.windows) return "measured in other windows";
  return evidence.Complete() ? "" : "incomplete";
}

std::string WhyLeftOut(const PastSession& session, const CasePair& pair, MetricId id) {
  if (std::string why = WhyOfNoUse(session, pair); !why.empty()) return why;
  const double value = Summarise(session.evidence, id).value.value_or(0);
  if (!(value > 0)) return "without a value";
  return WhyDoubtful(session.evidence, id, value).empty() ? "" : "not steady";
}

std::string WhyLeftOut(const PastSession& session, const HistoryCheck& check, const CasePair& pair,
                       MetricId id) {
  if (session.branch != check.branch) {
    return session.branch.empty() ? "of no branch" : "of other branches";
  }
  return WhyLeftOut(session, pair, id);
}

// The points that the rule compares with: the newest, or the first from `since` on, before which
// there are `before_since`.
void Choose(const HistoryCheck& check, std::optional<size_t> before_since, SessionSeries& series) {
  const std::vector<TrendPoint>& points = series.trend.points;
  const auto wanted = static_cast<size_t>(check.sessions);
  series.since_found = check.since.empty() || before_since;
  if (check.since.empty()) {
    series.end = points.size();
    series.begin = points.size() - std::min(points.size(), wanted);
  } else {
    series.begin = before_since.value_or(points.size());
    series.end = std::min(points.size(), series.begin + wanted);
  }
  for (size_t i = series.begin; i < series.end; ++i) series.values.push_back(*points[i].value);
}

SessionSeries SeriesFrom(const HistoryCheck& check, const CasePair& pair, MetricId id,
                         bool same_gpu) {
  SessionSeries series;
  series.trend.case_name = pair.declared.name;
  series.trend.metric = id;
  const std::string gpu = Recorded(pair.head, "gpu_uuid");
  std::vector<bool> elsewhere;
  std::map<std::string, int> left_out;
  std::optional<size_t> before_since;
  for (const PastSession& session : pair.past) {
    // It marks a place in time, whether it counts or not.
    if (!before_since && IsOf(session.run, session.commit, check.since)) {
      before_since = series.trend.points.size();
    }
    if (session.evidence.case_name.empty()) continue;
    const bool other_gpu = Recorded(session.evidence, "gpu_uuid") != gpu;
    if (same_gpu && other_gpu) continue;
    if (const std::string why = WhyLeftOut(session, check, pair, id); !why.empty()) {
      ++left_out[why];
      continue;
    }
    series.trend.points.push_back({session.run, session.started, session.commit,
                                   session.commit.substr(0, 7),
                                   Summarise(session.evidence, id).value, ""});
    elsewhere.push_back(other_gpu);
  }
  Choose(check, before_since, series);
  series.other_gpus = std::any_of(elsewhere.begin() + static_cast<ptrdiff_t>(series.begin),
                                  elsewhere.begin() + static_cast<ptrdiff_t>(series.end),
                                  [](bool other) { return other; });
  for (const auto& [why, count] : left_out) {
    series.left_out.push_back(fmt::format("{} {}", count, why));
  }
  return series;
}

}  // namespace

bool MayCount(const PastSession& session, const CasePair& pair) {
  return WhyOfNoUse(session, pair).empty();
}

bool IsOf(const std::string& run, const std::string& commit, const std::string& since) {
  return run == since || commit.starts_with(since);
}

bool IsCounted(const PastSession& session, const CasePair& pair, MetricId id) {
  return WhyLeftOut(session, pair, id).empty();
}

SessionSeries SeriesOf(const HistoryCheck& check, const CasePair& pair, MetricId id) {
  SessionSeries series = SeriesFrom(check, pair, id, true);
  if (series.values.size() >= static_cast<size_t>(check.sessions)) return series;
  return SeriesFrom(check, pair, id, false);
}

std::optional<double> SessionValue(const CasePair& pair, MetricId id, bool second) {
  const auto confirms = [&](int process) {
    return std::any_of(pair.rounds.begin(), pair.rounds.end(), [&](const PairRound& round) {
      return round.round > 0 && process >= round.first_pair &&
             process < round.first_pair + round.pairs;
    });
  };
  Evidence session;
  session.ranks = pair.head.ranks;
  for (const Observation& observation : pair.head.values) {
    if (observation.metric == id && confirms(observation.process) == second) {
      session.values.push_back(observation);
    }
  }
  return Summarise(session, id).value;
}

}  // namespace perfgate
