#include "declare/profiler.h"

#include <fmt/format.h>

namespace perfgate {
namespace {

constexpr int64_t kLongestWindowNs = int64_t{24} * 3600 * 1'000'000'000;
constexpr int64_t kMostKernels = 10'000'000;

void ReadSteps(const Reader& steps, Case& out) {
  if (!steps.Map(kStepsKeys)) return;
  if (const auto range = steps.Find("nvtx")) out.nvtx_steps = range->Text().value_or("");
}

// "after=5000000000ns,for=2000000000ns", as the collector reads it.
void ReadWindow(const Reader& window, Case& out) {
  if (!window.Map(kWindowKeys)) return;
  const auto add = [&](std::string_view key, int64_t value, std::string_view unit) {
    out.cupti_window +=
        fmt::format("{}{}={}{}", out.cupti_window.empty() ? "" : ",", key, value, unit);
  };
  for (const std::string_view key : {"after", "for"}) {
    const auto time = window.Find(key);
    const auto ns = time ? time->DurationNs(kLongestWindowNs) : std::nullopt;
    if (ns) add(key, *ns, "ns");
  }
  const auto kernels = window.Find("kernels");
  const auto count = kernels ? kernels->Int(1, kMostKernels) : std::nullopt;
  if (count) add("kernels", *count, "");
  if (window.IsMap() && window.value().members.empty()) {
    window.Fail("is empty; it may have after, for, kernels");
  }
}

}  // namespace

void ReadProfiler(const Reader& body, std::string_view kind, Case& out) {
  const auto profiler = body.Find("profiler");
  const auto name = profiler ? profiler->Choice({"torch", "cupti", "instructions"}) : std::nullopt;
  if (name == "cupti") out.profiler = Profiler::kCupti;
  if (name == "instructions") out.profiler = Profiler::kInstructions;
  if (out.profiler == Profiler::kCupti && kind == "torch") {
    profiler->Fail("cupti is for commands: perfgate-torch writes a trace itself");
  }
  const auto steps = body.Find("steps");
  const auto window = body.Find("window");
  if (profiler && !name) return;  // said already
  for (const auto& each : {steps, window}) {
    if (each && out.profiler != Profiler::kCupti) {
      body.problems().Add(each->spot(), each->path(), "needs 'profiler: cupti'");
    }
  }
  if (steps && window) {
    body.problems().Add(window->spot(), window->path(), "has no meaning beside 'steps'; give one");
  }
  if (steps) ReadSteps(*steps, out);
  if (window) ReadWindow(*window, out);
}

}  // namespace perfgate
