#include <ostream>

#include "cli/commands.h"
#include "cli/evidence_source.h"
#include "cli/select.h"
#include "report/report.h"

namespace perfgate::cli {

int Inspect(const InspectArgs& args, World& world) {
  const Evidence evidence = TraceOrStored(args.what, DatabaseHere(args.database));
  if (args.format == Format::kJson) {
    world.Out() << WriteJson(ToJson(evidence), 2);
  } else if (args.format == Format::kMarkdown) {
    world.Out() << EvidenceAsMarkdown(evidence, args.explain);
  } else if (args.format == Format::kHtml) {
    world.Out() << EvidenceAsHtml(evidence);
  } else {
    world.Out() << EvidenceAsText(evidence, {.color = WantsColor(world)}, args.explain);
  }
  // Evidence that can prove nothing is not a success of this command.
  return evidence.Complete() ? 0 : 3;
}

}  // namespace perfgate::cli
