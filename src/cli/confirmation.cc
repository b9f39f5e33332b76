#include "cli/confirmation.h"

#include <algorithm>

#include "cli/evidence_source.h"
#include "cli/judging.h"
#include "stats/stats.h"

namespace perfgate::cli {
namespace {

// How many fresh pairs the finding asks for; 0: none. A second session takes as many as there are
// at least.
int PairsWanted(const Finding& finding) {
  if (finding.times && finding.times->wants_pairs) return finding.times->pairs_wanted;
  return finding.past && finding.past->wants_session ? kFewestPairs : 0;
}

Unsettled FindUnsettled(const Selection& selection, const std::filesystem::path& out_dir,
                        const std::vector<Calibration>& calibrations, World& world) {
  StoredRun stored = ReadOutFolder(out_dir).stored;
  stored.calibrations = calibrations;
  stored.run.finished = true;
  Unsettled unsettled;
  for (const CaseVerdict& item : JudgeRun(selection, stored, world).verdict.cases) {
    int wanted = 0;
    for (const Finding& finding : item.findings) wanted = std::max(wanted, PairsWanted(finding));
    if (wanted == 0) continue;
    unsettled.cases.push_back(item.case_name);
    unsettled.pairs = std::max(unsettled.pairs, wanted);
  }
  return unsettled;
}

}  // namespace

std::function<Unsettled()> Confirmation(const Selection& selection,
                                        const std::filesystem::path& out_dir, bool in_pairs,
                                        const std::vector<Calibration>& calibrations,
                                        World& world) {
  const bool may_ask = std::any_of(
      selection.suite.rules.begin(), selection.suite.rules.end(), [&](const Rule& rule) {
        return std::holds_alternative<HistoryCheck>(rule.check) ||
               (in_pairs && std::holds_alternative<RegressionCheck>(rule.check));
      });
  if (!may_ask) return {};
  return [&selection, out_dir, &calibrations, &world] {
    return FindUnsettled(selection, out_dir, calibrations, world);
  };
}

}  // namespace perfgate::cli
