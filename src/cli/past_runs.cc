#include "cli/past_runs.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace perfgate::cli {
namespace {

const Evidence* Find(const StoredRun& stored, const std::string& case_name) {
  const auto found =
      std::find_if(stored.cases.begin(), stored.cases.end(),
                   [&](const Evidence& evidence) { return evidence.case_name == case_name; });
  return found == stored.cases.end() ? nullptr : &*found;
}

Windows WindowsOf(const std::string& case_name, const RunRecord& run) {
  const auto ran = std::find_if(run.cases.begin(), run.cases.end(),
                                [&](const Case& declared) { return declared.name == case_name; });
  return ran == run.cases.end() ? Windows() : ran->windows;
}

PastSession SessionOf(const RunRecord& run, const Evidence& evidence) {
  return {run.id,
          run.started,
          run.commit,
          run.branch,
          run.dirty,
          run.quick,
          WindowsOf(evidence.case_name, run),
          evidence};
}

// A case of the run, and the times of it that rules compare with a history.
struct Asked {
  CasePair pair;
  std::set<MetricId> metrics;
};

// The first sessions since a commit, of every machine and stack that there is.
struct Since {
  const HistoryCheck* check;
  std::string case_name;
  MetricId metric;

  // The one that `since` names, and those that a run may be compared with.
  void AddRuns(const std::vector<PastSession>& sessions, std::set<std::string>* runs) const {
    const auto first = std::find_if(sessions.begin(), sessions.end(), [&](const PastSession& each) {
      return IsOf(each.run, each.commit, check->since);
    });
    if (first == sessions.end()) return;
    runs->insert(first->run);
    std::vector<Series> all;
    for (auto session = first; session != sessions.end(); ++session) {
      if (session->branch != check->branch) continue;
      Series* series = SeriesOfSession(*session, &all);
      if (series != nullptr && series->Take(*session, check->sessions)) runs->insert(session->run);
    }
  }

 private:
  // Sessions that count for each other.
  struct Series {
    CasePair pair;
    std::map<std::string, int> taken;  // by GPU: a rule prefers those of its own; "": of the model

    bool Take(const PastSession& session, int most) {
      const auto gpu = session.evidence.key.recorded.find("gpu_uuid");
      const bool of_model = taken[""]++ < most;
      if (gpu == session.evidence.key.recorded.end() || gpu->second.empty()) return of_model;
      return taken[gpu->second]++ < most || of_model;
    }
  };

  Series* SeriesOfSession(const PastSession& session, std::vector<Series>* all) const {
    for (Series& series : *all) {
      if (IsCounted(session, series.pair, metric)) return &series;
    }
    Series own;
    own.pair.head = session.evidence;
    own.pair.windows = session.windows;
    if (session.evidence.case_name.empty() || !IsCounted(session, own.pair, metric)) return nullptr;
    return &all->emplace_back(std::move(own));
  }
};

// A time that the run itself lacks is not judged: no session need have it.
void Ask(const Rule& rule, const Case& declared, const StoredRun& stored,
         std::map<std::string, Asked>* asked) {
  const Evidence* head = Find(stored, declared.name);
  if (head == nullptr || !MatchesGlob(rule.cases, declared.name)) return;
  Asked& each = (*asked)[declared.name];
  each.pair.declared = declared;
  each.pair.head = *head;
  each.pair.windows = WindowsOf(declared.name, stored.run);
  for (const MetricId id : rule.metrics) {
    if (Summarise(*head, id).unavailable.empty()) each.metrics.insert(id);
  }
}

}  // namespace

std::vector<StoredRun> RunsBefore(const StoredRun& stored, const Selection& selection) {
  if (stored.run.quick) return {};  // no rule compares it with any
  SeriesQuery query;
  query.run = stored.run.id;
  query.started = stored.run.started;
  int sessions = 0;
  bool all = false;
  std::map<std::string, Asked> asked;
  for (const Rule& rule : selection.suite.rules) {
    const auto* check = std::get_if<HistoryCheck>(&rule.check);
    if (check == nullptr || rule.severity == Severity::kOff) continue;
    query.branches.insert(check->branch);
    sessions = std::max(sessions, check->sessions);
    all = all || !check->since.empty();
    for (const Case& declared : selection.cases) Ask(rule, declared, stored, &asked);
  }
  std::error_code error;
  if (asked.empty() || !std::filesystem::exists(selection.database, error)) return {};
  for (const auto& [name, each] : asked) query.cases[name] = each.pair.head.key;
  if (!all) query.most = sessions;
  query.may_count = [&](const RunRecord& run, const Evidence& evidence) {
    return MayCount(SessionOf(run, evidence), asked.at(evidence.case_name).pair);
  };
  query.counts = [&](const RunRecord& run, const Evidence& evidence) {
    const Asked& each = asked.at(evidence.case_name);
    const PastSession session = SessionOf(run, evidence);
    return std::all_of(each.metrics.begin(), each.metrics.end(),
                       [&](MetricId id) { return IsCounted(session, each.pair, id); });
  };
  return Store(selection.database).Series(query);
}

std::vector<PastSession> SessionsOf(const std::string& case_name,
                                    const std::vector<StoredRun>& runs) {
  std::vector<PastSession> sessions;
  for (const StoredRun& stored : runs) {
    const Evidence* evidence = Find(stored, case_name);
    sessions.push_back(SessionOf(stored.run, evidence == nullptr ? Evidence() : *evidence));
  }
  return sessions;
}

std::set<std::string> RunsSince(const Suite& suite, const Store& store) {
  std::vector<Since> wanted;
  SeriesQuery query;
  query.started = "9999";  // of all runs
  for (const Rule& rule : suite.rules) {
    const auto* check = std::get_if<HistoryCheck>(&rule.check);
    if (check == nullptr || check->since.empty() || rule.severity == Severity::kOff) continue;
    query.branches.insert(check->branch);
    for (const Case& declared : suite.cases) {
      if (!MatchesGlob(rule.cases, declared.name)) continue;
      query.cases[declared.name] = std::nullopt;
      for (const MetricId id : rule.metrics) wanted.push_back({check, declared.name, id});
    }
  }
  std::set<std::string> runs;
  if (wanted.empty()) return runs;
  const std::vector<StoredRun> stored = store.Series(query);
  for (const Since& since : wanted) since.AddRuns(SessionsOf(since.case_name, stored), &runs);
  return runs;
}

}  // namespace perfgate::cli
