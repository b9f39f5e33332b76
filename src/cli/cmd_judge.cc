#include "cli/base_state.h"
#include "cli/commands.h"
#include "cli/evidence_source.h"
#include "cli/judging.h"
#include "cli/select.h"
#include "cli/trends.h"

namespace perfgate::cli {

int JudgeStored(const JudgeArgs& args, Reports& reports, World& world) {
  const Selection selection = Select(args.suite, world);
  const StoredRun stored = FindStoredRun(selection.database, args.run);
  JudgedRun judged = JudgeRun(selection, stored, world);
  if (!args.base.empty()) judged.verdict.review = ReviewAgainst(args.base, selection, world);
  reports.Write(judged.verdict, judged.pairs,
                reports.Wants(Format::kHtml) ? TrendsUpTo(stored.run.id, Store(selection.database))
                                             : std::vector<Trend>{});
  return judged.verdict.exit_code;
}

}  // namespace perfgate::cli
