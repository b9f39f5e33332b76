#include "cli/base_state.h"
#include "cli/commands.h"
#include "cli/evidence_source.h"
#include "cli/judging.h"
#include "cli/select.h"

namespace perfgate::cli {

int JudgeStored(const JudgeArgs& args, Reports& reports, World& world) {
  const Selection selection = Select(args.suite, world);
  JudgedRun judged = JudgeRun(selection, FindStoredRun(selection.database, args.run), world);
  if (!args.base.empty()) judged.verdict.review = ReviewAgainst(args.base, selection, world);
  reports.Write(judged.verdict, judged.pairs);
  return judged.verdict.exit_code;
}

}  // namespace perfgate::cli
