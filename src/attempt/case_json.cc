#include "attempt/case_json.h"

#include <charconv>
#include <system_error>
#include <utility>

namespace perfgate {
namespace {

Json WriteWindows(const Windows& windows) {
  Json json;
  json.Set("warmup_iterations", windows.warmup_iterations)
      .Set("warmup_until_steady", windows.warmup_until_steady)
      .Set("warmup_at_most_ns", windows.warmup_at_most_ns)
      .Set("timed_iterations", windows.timed_iterations)
      .Set("traced_iterations", windows.traced_iterations)
      .Set("traced_processes", windows.traced_processes);
  return json;
}

Windows ReadWindows(const Fields& fields) {
  Windows windows;
  windows.warmup_iterations = fields.SmallInt("warmup_iterations", windows.warmup_iterations);
  windows.warmup_until_steady = fields.Bool("warmup_until_steady", windows.warmup_until_steady);
  windows.warmup_at_most_ns = fields.Int("warmup_at_most_ns", windows.warmup_at_most_ns);
  windows.timed_iterations = fields.SmallInt("timed_iterations", windows.timed_iterations);
  windows.traced_iterations = fields.SmallInt("traced_iterations", windows.traced_iterations);
  windows.traced_processes = fields.SmallInt("traced_processes", windows.traced_processes);
  return windows;
}

}  // namespace

Json WriteCase(const Case& declared) {
  Json where;
  where.Set("file", declared.declared.file)
      .Set("line", declared.declared.line)
      .Set("column", declared.declared.column);
  Json json;
  json.Set("name", declared.name)
      .Set("workload", declared.workload)
      .Set("was", Json::ArrayOf(declared.was))
      .Set("params", ToJson(declared.params))
      .Set("argv", Json::ArrayOf(declared.argv))
      .Set("prepare", Json::ArrayOf(declared.prepare))
      .Set("trace", declared.trace)
      .Set("device", declared.device)
      .Set("threads", declared.threads)
      .Set("profiler", ToString(declared.profiler))
      .Set("nvtx_steps", declared.nvtx_steps)
      .Set("cupti_window", declared.cupti_window)
      .Set("windows", WriteWindows(declared.windows))
      .Set("timeout_ns", declared.timeout_ns)
      .Set("reference", declared.reference)
      .Set("reference_only", declared.reference_only)
      .Set("digest", declared.digest)
      .Set("plant", declared.plant)
      .Set("declared", std::move(where));
  return json;
}

Case ReadCase(const Fields& fields) {
  Case declared;
  fields.Require("name");
  declared.name = fields.Text("name");
  if (declared.name.empty()) fields.Fail("name", "expected a name");
  declared.workload = fields.Text("workload");
  declared.was = fields.Texts("was");
  declared.params = fields.TextMap("params");
  declared.argv = fields.Texts("argv");
  declared.prepare = fields.Texts("prepare");
  declared.trace = fields.Text("trace");
  if (fields.Has("device")) declared.device = fields.Text("device");
  declared.threads = fields.SmallInt("threads", declared.threads);
  declared.profiler =
      ReadEnum(fields, "profiler", {Profiler::kTorch, Profiler::kCupti, Profiler::kInstructions});
  declared.nvtx_steps = fields.Text("nvtx_steps");
  declared.cupti_window = fields.Text("cupti_window");
  declared.windows = ReadWindows(fields.Object("windows"));
  declared.timeout_ns = fields.Int("timeout_ns", declared.timeout_ns);
  declared.reference = fields.Text("reference");
  declared.reference_only = fields.Bool("reference_only");
  declared.digest = fields.Text("digest");
  declared.plant = fields.Text("plant");
  const Fields where = fields.Object("declared");
  declared.declared = {where.Text("file"), where.SmallInt("line"), where.SmallInt("column")};
  return declared;
}

uint64_t ReadSeed(const Fields& fields) {
  const std::string text = fields.Text("seed");
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size())) {
    fields.Fail("seed", "expected a text of digits");
  }
  return seed;
}

}  // namespace perfgate
