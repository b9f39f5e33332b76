#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/evidence_source.h"
#include "cli/judging.h"
#include "cli/select.h"
#include "declare/declare.h"
#include "diff/diff.h"
#include "judge/judge.h"

namespace perfgate::cli {
namespace {

const std::vector<std::string> kDefaultRules = {"perfgate:structure", "perfgate:fusion",
                                                "perfgate:precision", "perfgate:gpu-time"};

// Fields of the key that say on what the work ran. Two of them that differ make kernels and times
// another thing; other versions of libraries are what a person at a desk wants to compare.
constexpr std::array<std::string_view, 7> kHardware = {"device",    "gpu",     "sm_count", "mig",
                                                       "gpu_count", "cpu_isa", "threads"};

bool IsHardware(const std::string& difference) {
  for (const std::string_view field : kHardware) {
    if (difference.starts_with(std::string(field) + ":")) return true;
  }
  return false;
}

// A file by its name alone, unless `other`, the side it is compared with, has the same name.
std::string Label(const std::string& what, const std::string& other) {
  const std::filesystem::path name = std::filesystem::path(what).filename();
  std::error_code error;
  const bool telling = name != std::filesystem::path(other).filename();
  return telling && std::filesystem::exists(what, error) ? name.string() : what;
}

CasePair PairOf(const DiffArgs& args) {
  const std::filesystem::path database = DatabaseHere(args.database);
  CasePair pair;
  pair.base = TraceOrStored(args.base, database);
  pair.head = TraceOrStored(args.head, database);
  pair.base_label = Label(args.base, args.head);
  pair.declared.name = pair.head.case_name;
  pair.declared.device = pair.head.device_kind;
  pair.declared.was = {pair.base->case_name};
  // What half a trace says of the other would mislead.
  if (!pair.base->Complete() || !pair.head.Complete()) return pair;
  pair.diff = Compare(*pair.base, pair.head);
  for (const std::string& difference : pair.diff->differing_key) {
    if (IsHardware(difference)) pair.key_differences.push_back(difference);
  }
  pair.comparable = pair.key_differences.empty();
  return pair;
}

void AddHeadings(const CasePair& pair, CaseVerdict* item) {
  for (const AttemptSummary& attempt : pair.head.attempts) {
    if (!attempt.attempt.dir.empty()) {
      item->attempts.push_back(attempt.attempt.dir.generic_string());
    } else {  // a bare trace has no folder
      item->attempts.insert(item->attempts.end(), attempt.trace_files.begin(),
                            attempt.trace_files.end());
    }
  }
  if (!pair.diff) return;
  std::vector<std::string> software;
  for (const std::string& difference : pair.diff->differing_key) {
    if (!IsHardware(difference)) software.push_back(difference);
  }
  if (!software.empty()) {
    item->notes.push_back("the two sides differ in (base / head): " + Join(software, "; "));
  }
  if (!pair.diff->unknown_key.empty()) {
    item->notes.push_back("not known to be the same on both sides: " +
                          Join(pair.diff->unknown_key, ", "));
  }
}

}  // namespace

int DiffTwo(const DiffArgs& args, Reports& reports, World& world) {
  const std::vector<Rule> rules = LoadRules(args.rules.empty() ? kDefaultRules : args.rules, ".");
  const CasePair pair = PairOf(args);
  const Policy policy{.today = world.UtcNow().substr(0, 10), .bare_diff = true};
  Verdict verdict = Judge(rules, std::span(&pair, 1), policy);
  for (CaseVerdict& item : verdict.cases) AddHeadings(pair, &item);
  verdict.device = pair.head.device_name;
  verdict.stack = StackOf(pair.head);
  verdict.base_label = pair.base_label;
  verdict.head_label = Label(args.head, args.base);
  reports.Write(verdict, std::span(&pair, 1));
  return verdict.exit_code;
}

}  // namespace perfgate::cli
