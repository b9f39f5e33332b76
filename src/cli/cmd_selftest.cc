#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/error.h"
#include "base/text.h"
#include "cli/against.h"
#include "cli/commands.h"
#include "cli/confirmation.h"
#include "cli/device.h"
#include "cli/evidence_source.h"
#include "cli/judging.h"
#include "cli/select.h"
#include "cli/selftest.h"
#include "cli/work_folder.h"

namespace perfgate::cli {
namespace {

constexpr int64_t kPatienceNs = 60'000'000'000;

// Without the runner nothing can be planted: said before measuring, with what brings it.
void RequireRunner(const std::string& runner, const std::filesystem::path& folder, World& world) {
  Process process;
  process.argv = {runner, "--version"};
  process.cwd = folder;
  process.timeout_ns = kPatienceNs;
  const AttemptResult result = world.RunProcess(process);
  if (result.fault.empty() || world.Interrupted() != 0) return;
  throw Error(Fault::kEnvironment,
              fmt::format("selftest needs perfgate-torch, which plants the defects: {}; get it by "
                          "ci/build, or export PERFGATE_TORCH=FILE (`perfgate doctor` says more)",
                          Printable(result.fault)));
}

class SelftestRun {
 public:
  SelftestRun(const SelftestArgs& args, const std::filesystem::path& folder, World& world)
      : folder_(folder), world_(world), seed_(args.seed ? *args.seed : world.RandomSeed()) {
    SuiteArgs suite;
    suite.suite = folder_.string();
    selection_ = Select(suite, world);
    SetDevice(args.device, &selection_.cases);
    budget_ns_ = BudgetNs(args.budget);
    start_ns_ = world.MonotonicNs();
  }

  const std::vector<Case>& cases() const { return selection_.cases; }
  const SelftestReport& report() const { return report_; }
  bool on_gpu() const { return on_gpu_; }
  double step_ns() const { return step_ns_; }

  // Measures the cases against themselves without their defects and judges them; false where
  // something could not be measured or an interrupt came.
  bool Measure(const char* name, const std::vector<Planted>& planted) {
    Selection selection = selection_;
    selection.cases.clear();
    for (const Planted& each : planted) selection.cases.push_back(each.declared);
    AddReferences(selection_.cases, &selection.cases);
    selection.suite.cases = selection.cases;
    KeepRulesFor(planted.front().group, &selection.suite);
    const std::filesystem::path out_dir = folder_ / name;
    const std::vector<Calibration> none;
    const RunOptions options{out_dir, seed_, AgainstItself(selection),
                             Confirmation(selection, out_dir, true, none, world_)};
    RunSuite(selection.suite, selection.cases, options, world_);
    if (world_.Interrupted() != 0) return false;
    const StoredRun stored = ReadOutFolder(out_dir).stored;
    const Verdict verdict = JudgeRun(selection, stored, world_).verdict;
    report_.device = verdict.device;
    report_.stack = verdict.stack;
    bool measured = true;
    for (const Planted& each : planted) {
      report_.results.push_back(ResultOf(each, Find(verdict, each.declared.name)));
      measured &= report_.results.back().caught != Caught::kNotMeasured;
    }
    TakeFacts(stored);
    return measured;
  }

 private:
  // Structure is exact, so nothing of it waits for times. What changes numbers changes structure
  // too: the rules on numerics must catch it alone.
  static void KeepRulesFor(Group group, Suite* suite) {
    std::erase_if(suite->rules, [&](const Rule& rule) {
      if (group == Group::kNumbers) return !rule.full_id.starts_with("perfgate:numerics/");
      return group == Group::kStructure && std::holds_alternative<RegressionCheck>(rule.check);
    });
  }

  Against AgainstItself(const Selection& selection) {
    Against against;
    against.checkout = against.folder = selection.suite.folder;
    if (budget_ns_ > 0) {
      against.budget_ns = std::max<int64_t>(1, budget_ns_ - (world_.MonotonicNs() - start_ns_));
    }
    return against;
  }

  static const CaseVerdict& Find(const Verdict& verdict, const std::string& name) {
    return *std::find_if(verdict.cases.begin(), verdict.cases.end(),
                         [&](const CaseVerdict& each) { return each.case_name == name; });
  }

  // The device, and the step that delays are measured by, from the first unchanged workload.
  void TakeFacts(const StoredRun& stored) {
    const Evidence& first = stored.cases.front();
    on_gpu_ = first.device_kind == "cuda";
    if (step_ns_ == 0) step_ns_ = Summarise(first, MetricId::kLatencyP50).value.value_or(0);
  }

  const std::filesystem::path folder_;
  World& world_;
  uint64_t seed_;
  Selection selection_;
  SelftestReport report_;
  int64_t budget_ns_ = 0, start_ns_ = 0;
  bool on_gpu_ = false;
  double step_ns_ = 0;
};

}  // namespace

int SelfTest(const SelftestArgs& args, World& world) {
  const WorkFolder work(args.out_dir, "selftest");
  std::filesystem::create_directories(work.path());
  const std::string runner = TorchRunner(world);
  WriteSelftestSuite(work.path(), runner);
  SelftestRun run(args, work.path(), world);
  RequireRunner(runner, work.path(), world);
  // One after the other, so that a budget that is too small for all confirms some of them.
  const bool measured = run.Measure("unchanged", UnchangedCases(run.cases())) &&
                        run.Measure("structure", StructureCases(run.cases(), run.on_gpu())) &&
                        run.Measure("numbers", NumbersCases(run.cases())) &&
                        run.Measure("delays", DelayCases(run.cases(), run.step_ns()));
  if (measured) run.Measure("caches", CacheCases(run.cases()));
  if (const int signal = world.Interrupted(); signal != 0) return 128 + signal;
  world.Out() << AsText(run.report(), args.format);
  return run.report().ExitCode();
}

}  // namespace perfgate::cli
