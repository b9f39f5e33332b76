#include "declare/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "declare/profiler.h"
#include "declare/torch_workload.h"

namespace perfgate {
namespace {

// What all cases of a matrix may hold in memory together.
constexpr int64_t kMostCaseBytes = int64_t{64} << 20;

// A workload's mapping without what is the same for all its cases.
Yaml Body(const Yaml& workload) {
  Yaml body = workload;
  std::erase_if(body.members, [](const Yaml::Member& member) {
    return member.key == "name" || member.key == "was" || member.key == "matrix" ||
           member.key == "reference" || member.key == "prepare";
  });
  return body;
}

int64_t SizeOf(const Yaml& value) {
  int64_t size = static_cast<int64_t>(sizeof(Yaml) + value.text.size());
  for (const Yaml& item : value.items) size += SizeOf(item);
  for (const Yaml::Member& member : value.members) size += SizeOf(member.value);
  return size;
}

std::vector<std::string> ReadArguments(const Reader& command) {
  std::vector<std::string> arguments;
  if (command.IsScalar()) {
    command.Fail("must be a list, program first: [python3, bench/decode.py]; no shell splits it");
    return arguments;
  }
  for (const Reader& item : command.Items()) {
    if (!item.IsScalar()) {
      item.FailExpected("a text");
    } else if (arguments.empty() && item.value().text.empty()) {
      item.Fail("the program's name is empty");
    } else {
      arguments.push_back(item.value().text);
    }
  }
  return arguments;
}

// A trace is judged as it is: whatever says how to measure has no meaning.
void RefuseMeasuring(const Reader& body, const Reader& workload) {
  constexpr std::array<std::string_view, 11> kMeasuring = {
      "prepare", "profiler", "steps", "window", "reference", "device",
      "threads", "warmup",   "timed", "traced", "timeout"};
  for (const std::string_view key : kMeasuring) {
    const auto found = workload.Find(key);
    if (found) {
      body.problems().Add(found->spot(), found->path(),
                          "has no meaning for a 'trace', which is judged as it is");
    }
  }
}

// The definition that a baseline is compared under: what is run and how it is measured. Not the
// name, the machine's share (device, threads), the time-out, or the path of the runner. Of a trace
// it is the path as declared, never what the file holds: that is what is to be judged.
std::string Digest(const Case& out, std::string_view kind) {
  std::string text(kind);
  const auto add = [&](std::string_view part) {
    text += '\0';
    text += part;
  };
  if (kind == "trace") {
    add(out.trace);
    return Hash16(text);
  }
  for (size_t i = kind == "torch" ? 1 : 0; i < out.argv.size(); ++i) add(out.argv[i]);
  add(ToString(out.profiler));
  add(out.nvtx_steps);
  if (!out.cupti_window.empty()) add(out.cupti_window);
  const Windows& w = out.windows;
  add(fmt::format("{} {} {} {} {} {}", w.warmup_iterations, w.warmup_until_steady,
                  w.warmup_at_most_ns, w.timed_iterations, w.traced_iterations,
                  w.traced_processes));
  return Hash16(text);
}

// What is run, and where.
std::string DefinitionOf(const Case& out) {
  return fmt::format("{} {} {}", out.digest, out.threads, out.device);
}

Case ReadCase(const Reader& body, const Case& common, const Params& params,
              const Conditions& defaults, const LoadOptions& options) {
  Case out = common;
  out.params = params;
  out.name = CaseName(out.workload, params);
  for (std::string& was : out.was) was = CaseName(was, params);
  std::string_view kind = "command";
  if (const auto torch = body.Find("torch")) {
    kind = "torch";
    out.argv = ReadTorch(*torch);
    out.argv.insert(out.argv.begin(), options.torch_runner);
  } else if (const auto trace = body.Find("trace")) {
    kind = "trace";
    out.trace = trace->Text().value_or("");
  } else if (const auto command = body.Find("command")) {
    out.argv = ReadArguments(*command);
  }
  if (kind != "trace") ReadProfiler(body, kind, out);
  const Conditions conditions = ReadConditions(body, defaults);
  out.device = conditions.device;
  out.threads = conditions.threads;
  out.windows = conditions.windows;
  out.timeout_ns = conditions.timeout_ns;
  out.digest = Digest(out, kind);
  return out;
}

// `reference: {mode: eager, dtype: fp32}`: the same workload with other values of its matrix, and
// for a torch workload with another mode or input type.
class References {
 public:
  References(const Reader& reference, const Yaml& body, bool is_torch)
      : reference_(reference), body_(body), is_torch_(is_torch) {}

  // Reads the mapping against the keys of the matrix. False after a problem.
  bool Read(const Params& matrix_keys) {
    std::vector<std::string> known;
    for (const auto& [key, value] : matrix_keys) known.push_back(key);
    if (is_torch_) known.insert(known.end(), {"mode", "dtype"});
    const size_t before = reference_.problems().Count();
    if (!reference_.Map(known, "keys, of the matrix and of torch,")) return false;
    if (reference_.value().members.empty()) reference_.Fail("the mapping is empty");
    for (const auto& [key, value] : reference_.Members()) {
      const auto text = value.Text();
      if (!text) continue;
      if (text->find_first_of(",=[]*?{}") != std::string::npos) {
        value.Fail(fmt::format("{} may not contain , = [ ] * ? {{ }}", Quoted(*text)));
      }
      if (matrix_keys.contains(key)) {
        changed_params_[key] = *text;
      } else {
        extra_[key] = *text;
        Override(key, value.value());
      }
    }
    return reference_.problems().Count() == before;
  }

  Params ParamsFor(Params params) const {
    for (const auto& [key, value] : changed_params_) params[key] = value;
    return params;
  }
  Params NamedParams(Params params) const {
    params.insert(extra_.begin(), extra_.end());
    return params;
  }
  const Yaml& body() const { return body_; }

 private:
  void Override(const std::string& key, const Yaml& value) {
    for (Yaml::Member& member : body_.members) {
      if (member.key != "torch") continue;
      if (key == "mode") {
        Set(member.value, "mode", value);
        continue;
      }
      for (Yaml::Member& input : member.value.members) {
        if (input.key == "input") Set(input.value, "dtype", value);
        if (input.key != "inputs") continue;
        for (Yaml& item : input.value.items) Set(item, "dtype", value);
      }
    }
  }

  static void Set(Yaml& mapping, const std::string& key, const Yaml& value) {
    std::erase_if(mapping.members, [&](const Yaml::Member& m) { return m.key == key; });
    mapping.members.push_back({key, value.spot, value});
  }

  Reader reference_;
  Yaml body_;
  bool is_torch_;
  Params changed_params_, extra_;
};

class WorkloadReader {
 public:
  WorkloadReader(const Reader& workload, const Conditions& defaults, const LoadOptions& options)
      : workload_(workload), defaults_(defaults), options_(options) {}

  std::vector<Case> Read() {
    if (!workload_.Map(kWorkloadKeys)) return {};
    ReadCommon();
    const int kinds = workload_.Has("torch") + workload_.Has("command") + workload_.Has("trace");
    if (kinds != 1) workload_.Fail("needs exactly one of 'torch', 'command', 'trace'");
    const auto matrix = workload_.Find("matrix");
    const std::vector<Params> all = ReadMatrix(matrix ? &*matrix : nullptr);
    if (all.empty() || kinds != 1) return {};
    const Yaml body = Body(workload_.value());
    if (!CheckBody(body, matrix, all)) return {};
    for (const Params& params : all) cases_.push_back(ReadOne(body, params));
    ReadReference(body);
    return std::move(cases_);
  }

 private:
  void ReadCommon() {
    common_.declared = workload_.where();
    if (const auto name = workload_.Find("name")) {
      common_.workload = ReadName(*name);
      common_.declared = name->where();
    }
    if (const auto was = workload_.Find("was")) {
      for (const Reader& item : was->ItemsOrOne()) common_.was.push_back(ReadName(item));
    }
    if (const auto prepare = workload_.Find("prepare")) {
      common_.prepare = ReadArguments(*prepare);
      if (HasPlaceholder(prepare->value())) {
        prepare->Fail("runs once for all cases of the workload, so it cannot have placeholders");
      }
    }
    if (workload_.Has("trace")) RefuseMeasuring(workload_, workload_);
  }

  static std::string ReadName(const Reader& name) {
    const std::string text = name.Text().value_or("");
    const bool bad = text.find_first_of(",=[]*?") != std::string::npos || text != Printable(text) ||
                     text != Trim(text) || text.size() > 400;
    if (bad) {
      name.Fail(
          fmt::format("{} may not contain , = [ ] * ? or control characters, start or end "
                      "with a blank, or be longer than 400 bytes",
                      Quoted(text)));
    }
    return text;
  }

  bool CheckBody(const Yaml& body, const std::optional<Reader>& matrix,
                 const std::vector<Params>& all) const {
    std::set<std::string> used;
    for (const auto& [key, value] :
         Reader(body, workload_.spot(), workload_.path(), workload_.problems()).Members()) {
      CheckPlaceholders(value, all.front(), used);
    }
    for (const auto& [key, value] : all.front()) {
      if (used.contains(key)) continue;
      matrix->FailAtKey(key,
                        fmt::format("key {} is used nowhere; write \"{{{}}}\" where its values "
                                    "belong, or remove it",
                                    Quoted(key), key));
    }
    if (SizeOf(body) * static_cast<int64_t>(all.size()) > kMostCaseBytes) {
      workload_.Fail("its text times the cases of its matrix is more than 64 MiB");
      return false;
    }
    return true;
  }

  Case ReadOne(const Yaml& body, const Params& params) const {
    const Yaml text = Substitute(body, params);
    return ReadCase(Reader(text, workload_.spot(), workload_.path(), workload_.problems()), common_,
                    params, defaults_, options_);
  }

  void ReadReference(const Yaml& body) {
    const auto reference = workload_.Find("reference");
    if (!reference || workload_.Has("trace")) return;
    if (reference->IsScalar()) {
      const std::string name = reference->Text().value_or("");
      for (Case& each : cases_) each.reference = name;
      return;
    }
    References references(*reference, body, workload_.Has("torch"));
    if (!references.Read(cases_.front().params)) return;
    std::map<std::string, std::string> by_definition;
    for (const Case& each : cases_) by_definition.emplace(DefinitionOf(each), each.name);
    const size_t declared = cases_.size();
    for (size_t i = 0; i < declared; ++i) {
      Case target = ReadOne(references.body(), references.ParamsFor(cases_[i].params));
      const auto known = by_definition.find(DefinitionOf(target));
      if (known != by_definition.end()) {
        cases_[i].reference = known->second;
        continue;
      }
      target.params = references.NamedParams(target.params);
      target.name = CaseName(target.workload, target.params);
      target.was.clear();
      target.reference_only = true;
      cases_[i].reference = target.name;
      by_definition.emplace(DefinitionOf(target), target.name);
      cases_.push_back(std::move(target));
    }
  }

  Reader workload_;
  const Conditions& defaults_;
  const LoadOptions& options_;
  Case common_;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<Case> ReadWorkload(const Reader& workload, const Conditions& defaults,
                               const LoadOptions& options) {
  return WorkloadReader(workload, defaults, options).Read();
}

}  // namespace perfgate
