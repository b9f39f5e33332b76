// A small program without LibTorch or a profiler, measurable by include/perfgate/attempt.h alone.
#include <perfgate/attempt.h>
#include <perfgate/outputs.h>
#include <perfgate/spans.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

namespace attempt = perfgate::attempt;

namespace {

void Scale(std::vector<float>& values, float factor) {
  for (float& value : values) value *= factor;
}

void Measure() {
  const attempt::Settings settings = attempt::ReadSettings();
  std::vector<float> values(4096, 1.0F);
  attempt::Spans spans;
  attempt::Workload workload;
  const bool extra_work = std::getenv("EXTRA_WORK") != nullptr;
  workload.iterate = [&] {
    attempt::Spans::Scope whole(spans, "model::\"encode\"");
    if (extra_work) Scale(values, -1.0F);
    for (const float factor : {2.0F, 0.5F}) {
      attempt::Spans::Scope scope(spans, "model::scale");
      Scale(values, factor);
    }
  };
  int64_t ticks = 0;
  if (std::getenv("WITH_DEVICE_CLOCK")) {
    workload.device_latency = [&] {
      workload.iterate();
      return ++ticks;
    };
  }
  int64_t compiled_ns = 0;
  if (std::getenv("WITH_COMPILER")) {
    workload.compiled_ns = [&] { return std::exchange(compiled_ns, 1'000'000'000'000'000); };
  }
  workload.tracer = spans.AsTracer();
  attempt::Samples samples = attempt::Measure(settings, workload);
  samples.environment["writer"] = "attempt_h_program";
  samples.inputs = "ones";
  values[5] = std::nanf("");
  samples.outputs = {attempt::Save(settings, "a/values", {64, 64}, "fp32", values.data())};
  if (std::getenv("WITH_LARGE_OUTPUT")) {
    std::vector<float> large(5'000'000);
    for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<float>(i);
    samples.outputs = {attempt::Save(settings, "large", {5000, 1000}, "bf16", large.data())};
  }
  attempt::Finish(settings, samples);
}

}  // namespace

int main() {
  try {
    Measure();
    return 0;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "attempt_h_program: %s\n", fault.what());
    return 1;
  }
}
