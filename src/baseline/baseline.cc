#include "baseline/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "baseline/format.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestFolderName = 60;

// A folder name for a device or a version: lower case letters, digits, `.` and single `-`.
std::string FolderName(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, kLongestFolderName)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || (c == '.' && !name.empty())) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return name.empty() ? "unknown" : name;
}

std::string Field(const Key& key, const std::string& name) {
  const auto found = key.fields.find(name);
  return found == key.fields.end() ? "" : found->second;
}

// "2.11.0+cu130" -> "2.11"
std::string MajorMinor(const std::string& version) {
  const std::vector<std::string> parts = Split(version, '.');
  if (parts.size() < 2) return version;
  return parts[0] + "." + parts[1];
}

std::string GpuFolder(const Evidence& evidence) {
  if (evidence.device_kind == "cuda") {
    const std::string gpu = Field(evidence.key, "gpu");
    return FolderName(gpu.empty() ? evidence.device_name : gpu);
  }
  const std::string isa = Field(evidence.key, "cpu_isa");
  return isa.empty() ? "cpu" : FolderName("cpu-" + isa);
}

std::string StackFolder(const Evidence& evidence) {
  const std::string torch = Field(evidence.key, "torch");
  const std::string cuda = evidence.device_kind == "cuda" ? Field(evidence.key, "cuda") : "";
  std::vector<std::string> parts;
  if (!torch.empty()) parts.push_back("torch-" + FolderName(MajorMinor(torch)));
  if (!cuda.empty()) parts.push_back("cuda-" + FolderName(MajorMinor(cuda)));
  return parts.empty() ? "no-torch" : Join(parts, "-");
}

std::string FileName(std::string_view case_name) { return Slug(case_name) + ".json"; }

// The key without the definition: where it was measured. A new definition of a case replaces the
// old one in its place; another machine or library gets a place of its own.
std::map<std::string, std::string> Surroundings(const Key& key) {
  std::map<std::string, std::string> fields = key.fields;
  fields.erase("definition");
  return fields;
}

std::string SurroundingsDigest(const Key& key) {
  std::string text;
  for (const auto& [name, value] : Surroundings(key)) {
    text += fmt::format("{}:{}={}:{};", name.size(), name, value.size(), value);
  }
  return Hash16(text).substr(0, 8);
}

// What a person sees of the case in the names of its files, without the digest.
std::string NamePrefix(std::string_view case_name) {
  constexpr size_t kDigest = 11;  // "-" and 10 digits
  const std::string slug = Slug(case_name);
  return slug.substr(0, slug.size() - kDigest);
}

// The baselines of one case. A file that was renamed by hand, or that cannot be read, is not passed
// over in silence: all files whose name begins like the case's are read.
std::vector<Baseline> BaselinesOf(const std::vector<fs::path>& files, const fs::path& folder,
                                  const std::string& case_name) {
  std::vector<Baseline> baselines;
  const std::string prefix = NamePrefix(case_name);
  for (const fs::path& file : files) {
    if (!file.filename().string().starts_with(prefix)) continue;
    Baseline baseline = ReadBaseline(file, folder);
    if (baseline.evidence.case_name == case_name) {
      baselines.push_back(std::move(baseline));
    } else if (file.filename() == FileName(case_name)) {
      throw Error(
          Fault::kConfig,
          fmt::format("{}: this is the place of case `{}`, but the file holds `{}`: move it "
                      "back or accept the baseline again",
                      file.string(), case_name, Printable(baseline.evidence.case_name)));
    }
  }
  return baselines;
}

// All fields in which the keys are not the same, also those that one side does not know: what is
// not known to be equal is not compared in silence.
std::vector<std::string> StrictDifferences(const Key& base, const Key& head) {
  std::vector<std::string> differences;
  std::set<std::string> names;
  for (const auto& [name, value] : base.fields) names.insert(name);
  for (const auto& [name, value] : head.fields) names.insert(name);
  for (const std::string& name : names) {
    const std::string base_value = Field(base, name), head_value = Field(head, name);
    if (base_value == head_value) continue;
    differences.push_back(fmt::format("{}: {} / {}", name,
                                      base_value.empty() ? "not known" : base_value,
                                      head_value.empty() ? "not known" : head_value));
  }
  return differences;
}

// Why the two are not compared: other surroundings, another definition, or other rules of
// extraction, by which the same trace has other counts.
std::vector<std::string> Differences(const Evidence& base, const Evidence& head) {
  std::vector<std::string> differences = StrictDifferences(base.key, head.key);
  if (base.extractor != head.extractor) {
    differences.push_back(fmt::format("extractor: {} / {}", base.extractor, head.extractor));
  }
  return differences;
}

std::vector<std::string> RecordedDifferences(const Key& base, const Key& head) {
  std::vector<std::string> notes;
  for (const auto& [name, value] : base.recorded) {
    const auto other = head.recorded.find(name);
    if (other == head.recorded.end() || other->second == value) continue;
    notes.push_back(
        fmt::format("{} differs from the baseline's: {} / {}", name, value, other->second));
  }
  return notes;
}

}  // namespace

std::vector<fs::path> JsonFiles(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  const auto check = [&] {
    if (!error) return;
    throw Error(Fault::kConfig, fmt::format("{}: the baselines cannot be read: {}", folder.string(),
                                            error.message()));
  };
  if (!fs::exists(folder, error)) return files;
  fs::recursive_directory_iterator it(folder, error);
  check();
  while (it != fs::recursive_directory_iterator()) {
    const bool entered = fs::symlink_status(it->path(), error).type() == fs::file_type::directory;
    check();
    if (it->path().extension() == ".json" && !entered) files.push_back(it->path());
    // The out folder of a run, which may lie beside the baselines.
    if (entered && fs::is_regular_file(fs::symlink_status(it->path() / "run.json", error))) {
      it.disable_recursion_pending();
    }
    error.clear();
    it.increment(error);
    check();
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool SameSurroundings(const Key& a, const Key& b) { return Surroundings(a) == Surroundings(b); }

bool SameText(const Baseline& a, const Baseline& b) { return BaselineText(a) == BaselineText(b); }

bool SameValues(const Baseline& a, const Baseline& b) {
  Baseline of_a, of_b;
  of_a.evidence = a.evidence;
  of_b.evidence = b.evidence;
  return SameText(of_a, of_b);
}

BaselineLookup FindBaseline(const fs::path& folder, const Evidence& head,
                            const std::vector<std::string>& was) {
  const std::vector<fs::path> files = JsonFiles(folder);
  std::vector<std::string> names = {head.case_name};
  names.insert(names.end(), was.begin(), was.end());

  BaselineLookup nearest;
  for (const std::string& name : names) {
    for (Baseline& baseline : BaselinesOf(files, folder, name)) {
      BaselineLookup lookup;
      lookup.key_differences = Differences(baseline.evidence, head);
      lookup.state =
          lookup.key_differences.empty() ? BaselineState::kFound : BaselineState::kNotComparable;
      const bool nearer = nearest.state == BaselineState::kMissing ||
                          lookup.key_differences.size() < nearest.key_differences.size();
      if (!nearer) continue;
      lookup.notes = RecordedDifferences(baseline.evidence.key, head.key);
      if (name != head.case_name) {
        lookup.notes.push_back(fmt::format("the baseline is of the earlier name `{}`", name));
      }
      lookup.baseline = std::move(baseline);
      nearest = std::move(lookup);
    }
    if (nearest.state == BaselineState::kFound) break;
  }
  return nearest;
}

std::vector<Baseline> ListBaselines(const fs::path& folder) {
  std::vector<Baseline> baselines;
  for (const fs::path& file : JsonFiles(folder)) baselines.push_back(ReadBaseline(file, folder));
  return baselines;
}

fs::path BaselinePath(const fs::path& folder, const Evidence& evidence) {
  const fs::path gpu = folder / GpuFolder(evidence);
  const std::string stack = StackFolder(evidence);
  const fs::path plain = gpu / stack / FileName(evidence.case_name);
  const fs::path own =
      gpu / (stack + "-" + SurroundingsDigest(evidence.key)) / FileName(evidence.case_name);
  if (fs::exists(own)) return own;
  if (!fs::exists(plain)) return plain;
  const Baseline there = ReadBaseline(plain, folder);
  return SameSurroundings(there.evidence.key, evidence.key) ? plain : own;
}

void CheckFitForBaseline(const Baseline& baseline) {
  const Evidence& evidence = baseline.evidence;
  if (Trim(baseline.reason).empty()) {
    throw Error(Fault::kUsage, "a baseline needs a reason: --reason 'why this is right'");
  }
  if (!evidence.Complete()) {
    throw Error(Fault::kInput,
                fmt::format("{}: the evidence is incomplete ({}): mend that and run again",
                            evidence.case_name, evidence.incomplete_because.front()));
  }
  if (!evidence.plant.empty()) {
    throw Error(Fault::kInput,
                fmt::format("{}: the run had the planted defect `{}`: it cannot be a "
                            "baseline; run again without --plant",
                            evidence.case_name, evidence.plant));
  }
  const bool counts = Summarise(evidence, MetricId::kInstructions).value.has_value();
  if (evidence.kernels.empty() && !counts) {
    throw Error(Fault::kInput, fmt::format("{}: no kernel was seen in the run: there is nothing to "
                                           "compare with later",
                                           evidence.case_name));
  }
}

fs::path WriteBaseline(const fs::path& folder, const Baseline& baseline,
                       const std::vector<std::string>& was) {
  CheckFitForBaseline(baseline);
  const fs::path file = BaselinePath(folder, baseline.evidence);
  const fs::path place =
      fs::weakly_canonical(file.parent_path()).lexically_relative(fs::weakly_canonical(folder));
  if (place.empty() || *place.begin() == "..") {
    throw Error(Fault::kConfig, fmt::format("{}: a link leads out of the baselines folder: put a "
                                            "folder in its place",
                                            file.parent_path().string()));
  }
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) {
    throw Error(Fault::kEnvironment, fmt::format("{}: the folder cannot be made: {}",
                                                 file.parent_path().string(), error.message()));
  }
  WriteFileAtomically(file, BaselineText(baseline));
  for (const std::string& name : was) {
    if (name != baseline.evidence.case_name) fs::remove(file.parent_path() / FileName(name), error);
  }
  return file;
}

std::vector<std::string> VerifyBaselines(const fs::path& folder,
                                         const std::vector<std::string>& declared_cases) {
  std::vector<std::string> problems;
  const std::set<std::string> declared(declared_cases.begin(), declared_cases.end());
  std::set<fs::path> conflicted;
  for (const MergeConflict& conflict : FindConflicts(folder)) conflicted.insert(conflict.file);
  for (const fs::path& file : JsonFiles(folder)) {
    if (conflicted.contains(file)) continue;
    Baseline baseline;
    try {
      baseline = ReadBaseline(file, folder);
    } catch (const Error& error) {  // the problem is the answer
      problems.push_back(error.what());
      continue;
    }
    const Evidence& evidence = baseline.evidence;
    const fs::path place = file.lexically_relative(folder);
    const std::string stack = StackFolder(evidence);
    const fs::path plain = fs::path(GpuFolder(evidence)) / stack / FileName(evidence.case_name);
    const fs::path own = fs::path(GpuFolder(evidence)) /
                         (stack + "-" + SurroundingsDigest(evidence.key)) /
                         FileName(evidence.case_name);
    if (place != plain && place != own) {
      problems.push_back(fmt::format("{}: in the wrong place: its case and key belong in {}",
                                     file.string(), plain.string()));
    }
    if (!declared.contains(evidence.case_name)) {
      problems.push_back(
          fmt::format("{}: case `{}` is not declared: remove the file, or name the "
                      "case's earlier name under `was`",
                      file.string(), Printable(evidence.case_name)));
    }
  }
  return problems;
}

}  // namespace perfgate
