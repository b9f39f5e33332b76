#include <ostream>

#include "base/error.h"
#include "cli/base_state.h"
#include "cli/commands.h"
#include "cli/select.h"
#include "report/report.h"

namespace perfgate::cli {

// Who asks for the review alone needs the answer: without a base the command cannot go on.
int ReviewFiles(const ReviewArgs& args, World& world) {
  const Selection selection = Select(args.suite, world);
  const Review review = ReviewAgainst(args.base, selection, world);
  if (review.base.empty()) throw Error(Fault::kUsage, review.problem);
  switch (args.format) {
    case Format::kJson:
      world.Out() << WriteJson(ReviewAsJson(review), 2);
      break;
    case Format::kMarkdown:
      world.Out() << ReviewAsMarkdown(review);
      break;
    default:
      world.Out() << ReviewAsText(review, {.color = WantsColor(world)});
  }
  return review.problem.empty() ? 0 : 3;
}

}  // namespace perfgate::cli
