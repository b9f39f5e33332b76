#include <fmt/format.h>

#include <map>
#include <set>

#include "base/text.h"
#include "declare/matrix.h"
#include "declare/reader.h"
#include "declare/rules.h"
#include "declare/workload.h"

namespace perfgate {
namespace {

constexpr int64_t kMostBudgetNs = int64_t{7 * 24 * 3600} * 1'000'000'000;

// A workload with a `reference`.
struct Compared {
  Reader reference;
  size_t begin, end;  // its cases
};

class SuiteReader {
 public:
  SuiteReader(const LoadOptions& options, Suite& suite, Problems& problems)
      : options_(options), suite_(suite), problems_(problems) {}

  void Read(const Reader& root) {
    if (!root.Map(kSuiteKeys) || !CheckVersion(root)) return;
    if (const auto name = root.Find("suite")) suite_.name = name->Text().value_or("");
    if (const auto policy = root.Find("no_baseline")) {
      suite_.no_baseline_warns = policy->Choice({"error", "warn"}).value_or("error") == "warn";
    }
    if (const auto baselines = root.Find("baselines")) {
      suite_.baselines = baselines->Text().value_or("baselines");
    }
    if (const auto budget = root.Find("budget")) {
      suite_.budget_ns = budget->DurationNs(kMostBudgetNs).value_or(0);
    }
    Conditions defaults;
    const auto given = root.Find("defaults");
    if (given && given->Map(kDefaultsKeys)) defaults = ReadConditions(*given, defaults);
    if (const auto workloads = root.Find("workloads")) ReadWorkloads(*workloads, defaults);
    if (const auto rules = root.Find("rules")) ReadRuleSources(*rules);
  }

 private:
  void ReadWorkloads(const Reader& workloads, const Conditions& defaults) {
    for (const Reader& workload : workloads.Items()) {
      CheckName(workload);
      const size_t before = problems_.Count();
      std::vector<Case> cases = ReadWorkload(workload, defaults, options_);
      broken_ = broken_ || problems_.Count() != before || cases.empty();
      if (suite_.cases.size() + cases.size() > static_cast<size_t>(kMostCases)) {
        workload.Fail(fmt::format("brings the suite to more than {} cases", kMostCases));
        return;
      }
      if (const auto reference = workload.Find("reference")) {
        compared_.push_back({*reference, suite_.cases.size(), suite_.cases.size() + cases.size()});
      }
      for (Case& each : cases) suite_.cases.push_back(std::move(each));
    }
    CheckEarlierNames(workloads);
    if (broken_) return;
    ResolveReferences();
    for (const Compared& compared : compared_) RefuseOwnReference(compared);
  }

  void CheckName(const Reader& workload) {
    const auto name = workload.IsMap() ? workload.Find("name") : std::nullopt;
    if (!name || !name->IsScalar()) return;
    if (!names_.insert(name->value().text).second) {
      name->Fail(fmt::format("workload {} is there twice", Quoted(name->value().text)));
    }
  }

  // A baseline of an earlier name must belong to one workload only.
  void CheckEarlierNames(const Reader& workloads) {
    std::set<std::string> earlier;
    for (const Reader& workload : workloads.Items()) {
      const auto was = workload.IsMap() ? workload.Find("was") : std::nullopt;
      if (!was || (!was->IsScalar() && !was->IsList())) continue;
      for (const Reader& item : was->ItemsOrOne()) {
        if (!item.IsScalar()) continue;
        const std::string& name = item.value().text;
        if (names_.contains(name)) {
          item.Fail(fmt::format("{} is the name of a workload of this suite", Quoted(name)));
        } else if (!earlier.insert(name).second) {
          item.Fail(fmt::format("{} is there twice", Quoted(name)));
        }
      }
    }
  }

  // `reference: NAME` is a case, or a workload with the same parameters.
  void ResolveReferences() {
    std::set<std::string> names;
    for (const Case& each : suite_.cases) names.insert(each.name);
    for (const Compared& compared : compared_) {
      if (!compared.reference.IsScalar()) continue;
      for (size_t i = compared.begin; i < compared.end; ++i) {
        Case& each = suite_.cases[i];
        const std::string same = CaseName(each.reference, each.params);
        if (names.contains(same)) {
          each.reference = same;
        } else if (!names.contains(each.reference)) {
          compared.reference.Fail(
              fmt::format("no case {} and no case {}", Quoted(each.reference), Quoted(same)));
        }
      }
    }
  }

  // The case of a matrix that the others are compared with is its own reference; a workload that
  // has no other cases is compared with nothing.
  void RefuseOwnReference(const Compared& compared) {
    for (size_t i = compared.begin; i < compared.end; ++i) {
      if (suite_.cases[i].reference != suite_.cases[i].name) return;
    }
    compared.reference.Fail(
        fmt::format("{} is its own reference, from which it never differs; name another case, "
                    "mode or dtype, or take 'reference' out",
                    Quoted(suite_.cases[compared.begin].name)));
  }

  void ReadRuleSources(const Reader& rules) {
    std::vector<RuleSource> sources;
    for (const Reader& item : rules.Items()) {
      const auto name = item.Text();
      if (!name) continue;
      sources.push_back({*name, item});
      suite_.rule_sources.push_back(*name);
    }
    std::vector<std::string> names;
    for (const Case& each : suite_.cases) {
      if (!each.reference_only) names.push_back(each.name);
    }
    // With a broken workload its cases are unknown: a glob for them is no mistake.
    suite_.rules =
        ReadRules(sources, suite_.folder, broken_ ? nullptr : &names, options_, problems_);
  }

  const LoadOptions& options_;
  Suite& suite_;
  Problems& problems_;
  std::set<std::string> names_;
  std::vector<Compared> compared_;
  bool broken_ = false;
};

std::vector<std::string> TracesOf(const Reader& workload) {
  std::vector<std::string> traces;
  const auto trace = workload.IsMap() ? workload.Find("trace") : std::nullopt;
  if (!trace || !trace->Text()) return traces;
  const auto matrix = workload.Find("matrix");
  for (const Params& params : ReadMatrix(matrix ? &*matrix : nullptr)) {
    traces.push_back(Substitute(trace->value(), params).text);
  }
  return traces;
}

std::filesystem::path FolderOf(const std::filesystem::path& file) {
  return file.parent_path().empty() ? "." : file.parent_path();
}

}  // namespace

NamedFiles FilesNamedBy(const std::filesystem::path& suite_file) {
  const std::filesystem::path folder = FolderOf(suite_file);
  NamedFiles named{{}, {}, folder / "baselines"};
  Problems unsaid;
  const std::string name = suite_file.generic_string();
  const int number = unsaid.AddFile(name);
  const auto text = ReadDeclaration(name, number, unsaid, "");
  const auto document = text ? ParseYaml(*text, number, unsaid) : std::nullopt;
  if (!document) return named;
  const Reader root(*document, {number, 1, 1}, "", unsaid);
  if (const auto baselines = root.Find("baselines"); baselines && baselines->Text()) {
    named.baselines = folder / *baselines->Text();
  }
  if (const auto rules = root.Find("rules")) {
    for (const std::string& each : rules->Texts()) {
      if (!each.empty() && !each.starts_with(kPackPrefix)) named.rules.push_back(folder / each);
    }
  }
  if (const auto workloads = root.Find("workloads")) {
    for (const Reader& workload : workloads->Items()) {
      if (named.traces.size() > static_cast<size_t>(kMostCases)) break;  // refused when loaded
      for (const std::string& each : TracesOf(workload)) {
        if (!each.empty()) named.traces.push_back(folder / each);
      }
    }
  }
  return named;
}

Suite LoadSuite(const std::filesystem::path& file, const LoadOptions& options) {
  Problems problems;
  Suite suite;
  suite.file = file;
  suite.folder = FolderOf(file);
  suite.baselines = "baselines";
  const std::string name = file.generic_string();
  const int number = problems.AddFile(name);
  const auto text = ReadDeclaration(
      name, number, problems,
      "name your suite's file or folder, or write a first one by `perfgate schema suite`");
  const auto document = text ? ParseYaml(*text, number, problems) : std::nullopt;
  if (document) {
    SuiteReader(options, suite, problems).Read(Reader(*document, {number, 1, 1}, "", problems));
  }
  problems.ThrowIfAny();
  if (suite.name.empty()) {
    suite.name = std::filesystem::absolute(file).parent_path().filename().generic_string();
  }
  return suite;
}

}  // namespace perfgate
