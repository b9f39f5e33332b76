#include "cli/against.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace perfgate::cli {
namespace {

namespace fs = std::filesystem;

fs::path Real(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(path, error);
  return error ? path : real;
}

// The folder of the repository that holds `folder`; itself without one.
fs::path TopOf(const fs::path& folder) {
  std::error_code error;
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path()) {
    if (fs::exists(at / ".git", error)) return at;
  }
  return folder;
}

// The place in the checkout that the suite's folder has in its own one.
fs::path BaseFolder(const fs::path& checkout, const fs::path& suite_folder) {
  std::error_code error;
  if (!fs::is_directory(checkout, error)) {
    throw Error(Fault::kUsage,
                fmt::format("--against {}: there is no such folder; make one by `git "
                            "worktree add` and build it",
                            Printable(checkout.string())));
  }
  const fs::path head = Real(suite_folder.empty() ? fs::path(".") : suite_folder);
  const fs::path inside = head.lexically_relative(TopOf(head));
  const fs::path folder = (Real(checkout) / inside).lexically_normal();
  if (!fs::is_directory(folder, error)) {
    throw Error(Fault::kUsage,
                fmt::format("--against {}: it has no folder {}, in which the suite's commands run",
                            Printable(checkout.string()), Printable(inside.string())));
  }
  return folder;
}

// What may make both sides run the same code unseen.
std::vector<std::string> Doubts(const fs::path& suite_folder, const fs::path& base, World& world) {
  std::vector<std::string> doubts;
  const fs::path head = Real(suite_folder.empty() ? fs::path(".") : suite_folder);
  if (head == base) {
    doubts.emplace_back("base and head are the same folder: a difference between them is noise");
    return doubts;
  }
  for (const char* name : {"PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD"}) {
    for (const std::string& entry : Split(world.Getenv(name), ':')) {
      const fs::path inside = fs::path(entry).lexically_relative(TopOf(head));
      if (entry.empty() || entry.front() != '/' || inside.empty() || *inside.begin() == "..") {
        continue;
      }
      doubts.push_back(
          fmt::format("{} names {}, which is of head: the base may have run head's code", name,
                      Printable(entry)));
    }
  }
  return doubts;
}

}  // namespace

int64_t BudgetNs(const std::string& text) {
  if (text.empty()) return 0;
  const std::optional<Quantity> budget = ParseQuantity(text);
  if (budget && budget->unit == Unit::kNanoseconds && budget->value >= 1 && budget->value < 9e17) {
    return static_cast<int64_t>(budget->value);
  }
  throw Error(Fault::kUsage,
              fmt::format("--budget {}: it takes a duration with its unit, as 10min or 90s",
                          Printable(text)));
}

std::optional<Against> BaseToMeasure(const RunArgs& args, const Selection& selection,
                                     World& world) {
  if (args.against.empty()) {
    if (args.budget.empty()) return std::nullopt;
    throw Error(Fault::kUsage, "--budget is for the pairs of --against DIR, which is not given");
  }
  if (args.quick) {
    throw Error(Fault::kUsage,
                "--quick measures too little for a comparison of times; leave out --quick or "
                "--against");
  }
  Against against;
  against.checkout = args.against;
  against.folder = BaseFolder(against.checkout, selection.suite.folder);
  against.budget_ns = args.budget.empty() ? selection.suite.budget_ns : BudgetNs(args.budget);
  against.notes = Doubts(selection.suite.folder, against.folder, world);
  return against;
}

void WarnOfUnresolvable(const Selection& selection, const std::vector<Calibration>& calibrations,
                        World& world) {
  const Facts machine = world.Machine();
  for (const Case& declared : selection.cases) {
    const std::vector<Calibration> known = CalibrationsOf(declared, machine, nullptr, calibrations);
    for (const Resolution& resolution : Resolve(selection.suite.rules, known)) {
      if (resolution.why_not.empty()) continue;
      world.Err() << fmt::format(
          "perfgate: {} ({}) cannot be resolved here for {}: {} (calibrated {})\n",
          Printable(resolution.rule), Printable(ToString(resolution.where)),
          Printable(declared.name), Printable(resolution.why_not),
          known.front().measured.substr(0, 10));
    }
  }
}

}  // namespace perfgate::cli
