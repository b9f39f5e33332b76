#include "cli/past_runs.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace perfgate::cli {
namespace {

std::set<std::string> CasesWithHistory(const Selection& selection) {
  std::set<std::string> names;
  for (const Rule& rule : selection.suite.rules) {
    if (!std::holds_alternative<HistoryCheck>(rule.check) || rule.severity == Severity::kOff) {
      continue;
    }
    for (const Case& declared : selection.cases) {
      if (MatchesGlob(rule.cases, declared.name)) names.insert(declared.name);
    }
  }
  return names;
}

}  // namespace

std::vector<StoredRun> RunsBefore(const RunRecord& run, const Selection& selection) {
  const std::set<std::string> names = CasesWithHistory(selection);
  std::error_code error;
  if (names.empty() || !std::filesystem::exists(selection.database, error)) return {};
  std::vector<StoredRun> runs = Store(selection.database).FinishedRuns(names);
  std::erase_if(runs, [&](const StoredRun& stored) {
    return stored.run.id == run.id || stored.run.started >= run.started;
  });
  return runs;
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
