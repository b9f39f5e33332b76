#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "baseline/baseline.h"
#include "cli/accepted.h"
#include "cli/commands.h"
#include "cli/evidence_source.h"
#include "cli/judging.h"
#include "cli/select.h"

namespace perfgate::cli {
namespace {

void RefuseUnfinished(const RunRecord& run) {
  if (run.finished && run.interrupted_by == 0) return;
  throw Error(
      Fault::kInput,
      fmt::format("run {} was {}: it cannot become a baseline; run again", run.id,
                  run.finished || run.interrupted_by != 0 ? "interrupted" : "not finished"));
}

// A quick run saw less than the suite asks for.
void RefuseQuick(const Case& declared, const StoredRun& stored) {
  for (const Case& measured : stored.run.cases) {
    if (measured.name != declared.name) continue;
    if (measured.windows.traced_processes >= declared.windows.traced_processes &&
        measured.windows.traced_iterations >= declared.windows.traced_iterations) {
      return;
    }
    throw Error(
        Fault::kInput,
        fmt::format("{}: run {} traced less than the suite declares (--quick?): run again without",
                    declared.name, stored.run.id));
  }
}

bool Names(const std::string& given, const std::string& full_id) {
  return given == full_id || full_id.ends_with("/" + given);
}

// What fails is accepted only by name, with or without a baseline before. That there was none is no
// failure of the case.
bool NeedsNaming(const Finding& finding) {
  return finding.status == Status::kFail || finding.status == Status::kSuspicious ||
         finding.status == Status::kError;
}

std::vector<std::string> NotNamed(const Verdict& verdict, const std::vector<std::string>& named,
                                  std::set<std::string>* used) {
  std::vector<std::string> missing;
  for (const CaseVerdict& item : verdict.cases) {
    for (const Finding& finding : item.findings) {
      if (!NeedsNaming(finding)) continue;
      const auto found = std::find_if(named.begin(), named.end(), [&](const std::string& name) {
        return Names(name, finding.rule);
      });
      if (found != named.end()) {
        used->insert(*found);
      } else {
        missing.push_back(fmt::format("  {}  {}: {}", Printable(item.case_name), finding.rule,
                                      Printable(finding.message)));
      }
    }
  }
  return missing;
}

// The command that was typed, with every failing rule named.
std::string NamingCommand(const Verdict& verdict, const Selection& selection,
                          const AcceptArgs& args) {
  std::set<std::string> ids;
  for (const CaseVerdict& item : verdict.cases) {
    for (const Finding& finding : item.findings) {
      if (NeedsNaming(finding)) ids.insert(finding.rule);
    }
  }
  std::string command = "perfgate baseline accept" + selection.flags;
  for (const std::string& glob : args.suite.cases) command += " --case " + ShellQuoted(glob);
  if (!args.from.empty()) command += " --from " + ShellQuoted(args.from);
  for (const std::string& id : ids) command += " --rule " + ShellQuoted(id);
  return command + " --reason '…'";
}

void CheckRules(const Selection& selection, const StoredRun& stored, const AcceptArgs& args,
                World& world) {
  const Verdict verdict = JudgeRun(selection, stored, world).verdict;
  std::set<std::string> used;
  const std::vector<std::string> missing = NotNamed(verdict, args.rules, &used);
  if (!missing.empty()) {
    throw Error(Fault::kUsage,
                fmt::format("these rules fail and are not named:\n{}\nif this is meant: {}",
                            Join(missing, "\n"), NamingCommand(verdict, selection, args)));
  }
  for (const std::string& name : args.rules) {
    if (used.contains(name)) continue;
    throw Error(Fault::kUsage,
                fmt::format("--rule {}: no such rule fails in the selected cases: leave it out",
                            Printable(name)));
  }
}

Baseline BaselineOf(const Evidence& evidence, const StoredRun& stored, const AcceptArgs& args,
                    World& world) {
  Baseline baseline;
  baseline.evidence = evidence;
  baseline.commit = stored.run.commit + (stored.run.dirty && !stored.run.commit.empty() ? "+" : "");
  baseline.date = world.UtcNow();
  baseline.reason = args.reason;
  baseline.run = stored.run.id;
  baseline.perfgate_version = PERFGATE_VERSION;
  return baseline;
}

AcceptedCase ComparedWithBefore(const Case& declared, const Evidence& now,
                                const Selection& selection) {
  AcceptedCase accepted{declared.name, {}, {}, now};
  BaselineLookup lookup = FindBaseline(selection.baselines, now, declared.was);
  if (lookup.state == BaselineState::kFound) {
    accepted.before = std::move(lookup.baseline->evidence);
  } else {
    accepted.key_differences = std::move(lookup.key_differences);
  }
  return accepted;
}

}  // namespace

int Accept(const AcceptArgs& args, World& world) {
  if (Trim(args.reason).empty())
    throw Error(Fault::kUsage, "--reason is empty: say why this is right");
  const Selection selection = Select(args.suite, world);
  const StoredRun stored = OutFolderOrStored(args.from, selection.database);
  RefuseUnfinished(stored.run);
  // Everything is checked before the first file is written.
  std::vector<Case> cases;
  std::vector<Baseline> baselines;
  std::vector<AcceptedCase> accepted;
  for (const Case& declared : selection.cases) {
    if (declared.reference_only) continue;
    cases.push_back(declared);
    RefuseQuick(declared, stored);
    baselines.push_back(BaselineOf(EvidenceFor(declared, selection, stored), stored, args, world));
    CheckFitForBaseline(baselines.back());
    accepted.push_back(ComparedWithBefore(declared, baselines.back().evidence, selection));
  }
  CheckRules(selection, stored, args, world);
  for (size_t i = 0; i < baselines.size(); ++i) {
    const auto file = WriteBaseline(selection.baselines, baselines[i], cases[i].was);
    world.Err() << "wrote " << file.string() << "\n";
    for (const Fallback& fallback : baselines[i].evidence.fallback) {
      world.Err() << fmt::format("note: {}: the run fell back: {}: {}\n", cases[i].name,
                                 Printable(fallback.what), Printable(fallback.why));
    }
  }
  world.Out() << CommitMessage(args.reason, accepted, args.rules, stored.run);
  world.Err() << fmt::format("accepted {} of run {}: review and commit the files\n",
                             Plural(static_cast<int64_t>(baselines.size()), "case"), stored.run.id);
  return 0;
}

}  // namespace perfgate::cli
