#include "cli/commands.h"
#include "cli/evidence_source.h"
#include "cli/judging.h"
#include "cli/select.h"

namespace perfgate::cli {

int JudgeStored(const JudgeArgs& args, Reports& reports, World& world) {
  const Selection selection = Select(args.suite, world);
  const Verdict verdict = JudgeRun(selection, FindStoredRun(selection.database, args.run), world);
  reports.Write(verdict);
  return verdict.exit_code;
}

}  // namespace perfgate::cli
