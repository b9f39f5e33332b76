#include "cli/past_runs.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace perfgate::cli {
namespace {

// Of sessions of one key, how many are looked at for each that is needed: some do not count.
constexpr int kSpare = 5;

const Evidence* Find(const StoredRun& stored, const std::string& case_name) {
  const auto found =
      std::find_if(stored.cases.begin(), stored.cases.end(),
                   [&](const Evidence& evidence) { return evidence.case_name == case_name; });
  return found == stored.cases.end() ? nullptr : &*found;
}

SeriesQuery QueryOf(const StoredRun& stored, const Selection& selection) {
  SeriesQuery query;
  query.before = stored.run.started;
  int sessions = 0;
  bool all = false;
  for (const Rule& rule : selection.suite.rules) {
    const auto* check = std::get_if<HistoryCheck>(&rule.check);
    if (check == nullptr || rule.severity == Severity::kOff) continue;
    query.branches.insert(check->branch);
    sessions = std::max(sessions, check->sessions);
    all = all || !check->since.empty();
    for (const Case& declared : selection.cases) {
      const Evidence* head = Find(stored, declared.name);
      if (head != nullptr && MatchesGlob(rule.cases, declared.name)) {
        query.cases[declared.name] = head->key;
      }
    }
  }
  if (!all) query.most = kSpare * sessions;
  return query;
}

}  // namespace

std::vector<StoredRun> RunsBefore(const StoredRun& stored, const Selection& selection) {
  const SeriesQuery query = QueryOf(stored, selection);
  std::error_code error;
  if (query.cases.empty() || !std::filesystem::exists(selection.database, error)) return {};
  return Store(selection.database).Series(query);
}

std::vector<PastSession> SessionsOf(const std::string& case_name,
                                    const std::vector<StoredRun>& runs) {
  std::vector<PastSession> sessions;
  for (const StoredRun& stored : runs) {
    for (const Evidence& evidence : stored.cases) {
      if (evidence.case_name != case_name) continue;
      const auto ran =
          std::find_if(stored.run.cases.begin(), stored.run.cases.end(),
                       [&](const Case& declared) { return declared.name == case_name; });
      sessions.push_back({stored.run.id, stored.run.started, stored.run.commit, stored.run.branch,
                          stored.run.dirty,
                          ran == stored.run.cases.end() ? Windows() : ran->windows, evidence});
    }
  }
  return sessions;
}

}  // namespace perfgate::cli
