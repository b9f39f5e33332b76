// The attempt contract for C++ programs: header-only, C++17, POSIX, nothing but the standard
// library.
//
//   #include <perfgate/attempt.h>
//   #include <perfgate/spans.h>
//   namespace attempt = perfgate::attempt;
//
//   int main() {
//     const attempt::Settings settings = attempt::ReadSettings();
//     Model model(settings.threads);
//     attempt::Spans spans;                        // or your own profiler: see Tracer
//     attempt::Workload workload;
//     workload.iterate = [&] { attempt::Spans::Scope scope(spans, "encode"); model.Run(); };
//     workload.tracer = spans.AsTracer();
//     attempt::Samples samples = attempt::Measure(settings, workload);
//     samples.environment["model"] = "v2";
//     attempt::Finish(settings, samples);
//   }
//
// perfgate starts the program with PERFGATE_* set and an empty folder (docs/attempt.md). Measure
// runs the warm-up, the timed window (no profiler) and, in the traced phase, the traced window;
// Finish leaves samples.json. Started by hand, the program uses defaults and a folder under
// $TMPDIR, and Finish prints a summary. Every fault is a std::runtime_error that says what to mend.
#pragma once

#include <perfgate/samples.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace perfgate {
namespace attempt {

// What perfgate asks of this process. The defaults are those of a program started by hand.
struct Settings {
  std::string folder;   // where trace and samples go; exists
  bool by_hand = true;  // PERFGATE_ATTEMPT_DIR was not set
  bool traced = true;   // PERFGATE_PHASE: a traced window follows the timed one
  int warmup = 20;      // iterations, at least
  bool until_steady = true;
  int64_t warmup_at_most_ns = 30'000'000'000;
  int iterations = 200;  // of the timed window
  int traced_iterations = 5;
  std::string device = "auto";
  int threads = 1;
  std::string plant;  // a defect to put in on purpose; "" for none
};

// How the traced window is recorded. `begin` and `end` stand around the window; `step` runs `body`,
// one iteration, inside a mark named "ProfilerStep#<index>". `end` writes the trace to `path`.
struct Tracer {
  std::function<void()> begin;
  std::function<void(int index, const std::function<void()>& body)> step;
  std::function<void(const std::string& path)> end;
};

struct Workload {
  std::function<void()> iterate;  // one iteration
  std::function<void()>
      synchronize;  // waits for the device; empty: `iterate` returns when all is done
  // One iteration, timed by the device's own clock (CUDA events): nanoseconds from its start to the
  // end of its work on the device. Empty: there is no such clock.
  std::function<int64_t()> device_latency;
  Tracer tracer;
  // Time spent on what is no part of the cold start: done once and kept for later processes (an
  // export, a download), or done to record the machine.
  int64_t once_ns = 0;
  // Nanoseconds that this process has compiled so far (a JIT). Empty: unknown, which is not 0.
  std::function<int64_t()> compiled_ns;
};

namespace internal {

inline int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Start of this process until now. The kernel keeps the start in clock ticks (10 ms as a rule).
inline int64_t SinceProcessStartNs() {
  std::ifstream file("/proc/self/stat");
  std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t name_end = stat.rfind(')');  // the name may hold blanks and parentheses
  if (name_end == std::string::npos) throw std::runtime_error("cannot read /proc/self/stat");
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;  // proc(5): starttime is field 22
  int64_t start_ticks = 0;
  fields >> start_ticks;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const int64_t start_ns = start_ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK));
  return std::max<int64_t>(0, int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec - start_ns);
}

inline int64_t ReadNumber(const char* name, int64_t at_least, int64_t fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return fallback;
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text, &end, 10);
  if (*end != '\0' || errno != 0 || value < at_least) {
    throw std::runtime_error(std::string(name) + "='" + text +
                             "': expected a whole number of at least " + std::to_string(at_least));
  }
  return value;
}

inline int ReadCount(const char* name, int at_least, int fallback) {
  const int64_t value = ReadNumber(name, at_least, fallback);
  if (value > 1'000'000'000) throw std::runtime_error(std::string(name) + ": above 1000000000");
  return static_cast<int>(value);
}

inline std::string ReadText(const char* name, const std::string& fallback) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? fallback : text;
}

inline std::string TemporaryFolder() {
  std::string path = ReadText("TMPDIR", "/tmp") + "/perfgate-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    throw std::runtime_error("cannot make a folder " + path + ": " + std::strerror(errno));
  }
  return path;
}

inline int64_t Median(std::vector<int64_t> values) {  // the lower one of two
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Steady: the medians of the last two blocks of ten iterations differ by at most 5 %.
inline bool IsSteady(const std::vector<int64_t>& latency_ns) {
  constexpr std::ptrdiff_t kBlock = 10;
  if (latency_ns.size() < 2 * kBlock) return false;
  const double before = static_cast<double>(
      Median(std::vector<int64_t>(latency_ns.end() - 2 * kBlock, latency_ns.end() - kBlock)));
  const double last = static_cast<double>(
      Median(std::vector<int64_t>(latency_ns.end() - kBlock, latency_ns.end())));
  return std::abs(last - before) <= 0.05 * before;
}

}  // namespace internal

// Reads PERFGATE_*. Without PERFGATE_ATTEMPT_DIR the program was started by hand: a folder is made.
inline Settings ReadSettings() {
  Settings settings;
  settings.folder = internal::ReadText("PERFGATE_ATTEMPT_DIR", "");
  settings.by_hand = settings.folder.empty();
  const std::string phase = internal::ReadText("PERFGATE_PHASE", "traced");
  if (phase != "timed" && phase != "traced") {
    throw std::runtime_error("PERFGATE_PHASE='" + phase + "': expected timed or traced");
  }
  settings.traced = phase == "traced";
  settings.warmup = internal::ReadCount("PERFGATE_WARMUP", 0, settings.warmup);
  const std::string steady = internal::ReadText("PERFGATE_WARMUP_UNTIL_STEADY", "1");
  settings.until_steady = steady == "1" || steady == "true";
  settings.warmup_at_most_ns =
      internal::ReadNumber("PERFGATE_WARMUP_AT_MOST_NS", 0, settings.warmup_at_most_ns);
  settings.iterations = internal::ReadCount("PERFGATE_ITERATIONS", 1, settings.iterations);
  settings.traced_iterations =
      internal::ReadCount("PERFGATE_TRACED_ITERATIONS", 1, settings.traced_iterations);
  settings.device = internal::ReadText("PERFGATE_DEVICE", settings.device);
  settings.threads = internal::ReadCount("PERFGATE_THREADS", 1, settings.threads);
  settings.plant = internal::ReadText("PERFGATE_PLANT", "");
  if (settings.by_hand) settings.folder = internal::TemporaryFolder();
  return settings;
}

// Runs the windows. The warm-up does `warmup` iterations and then, with `until_steady`, goes on in
// blocks of ten until the medians of the last two blocks differ by at most 5 %; it ends in any case
// once it has taken `warmup_at_most_ns`. An iteration's latency ends when the device is done. The
// device is waited for outside the marks of the traced window. As many iterations again are timed
// by the device's own clock, if there is one: its marks cost time, so they are no part of the
// latency.
inline Samples Measure(const Settings& settings, const Workload& workload) {
  Samples samples;
  const auto synchronize = [&] {
    if (workload.synchronize) workload.synchronize();
  };
  const auto iteration_ns = [&](int64_t* dispatch_ns) {
    const int64_t start = internal::NowNs();
    workload.iterate();
    *dispatch_ns = internal::NowNs() - start;
    synchronize();
    return internal::NowNs() - start;
  };

  const auto compiled_ns = [&] { return workload.compiled_ns ? workload.compiled_ns() : 0; };
  const int64_t loaded_ns = internal::SinceProcessStartNs() - workload.once_ns;
  const int64_t compiled_before_ns = compiled_ns();
  int64_t dispatch_ns = 0;
  std::vector<int64_t> warmup_ns = {iteration_ns(&dispatch_ns)};
  samples.cold_start_ns = internal::SinceProcessStartNs() - workload.once_ns;
  const int64_t compiled_in_all_ns = compiled_ns();
  if (workload.compiled_ns) samples.compile_ns = compiled_in_all_ns;
  samples.load_ns = std::max<int64_t>(0, loaded_ns - compiled_before_ns);
  samples.first_call_ns =
      std::max<int64_t>(0, warmup_ns[0] - (compiled_in_all_ns - compiled_before_ns));
  const int64_t deadline = internal::NowNs() + settings.warmup_at_most_ns;
  const auto goes_on = [&] {
    const size_t count = warmup_ns.size();
    if (count < static_cast<size_t>(settings.warmup)) return true;
    return settings.until_steady && (count % 10 != 0 || !internal::IsSteady(warmup_ns));
  };
  while (goes_on() && internal::NowNs() < deadline) warmup_ns.push_back(iteration_ns(&dispatch_ns));
  samples.warmup_iterations = static_cast<int>(warmup_ns.size());
  samples.steady = internal::IsSteady(warmup_ns);

  const size_t expected = static_cast<size_t>(std::min(settings.iterations, 100'000));
  samples.latency_ns.reserve(expected);
  samples.dispatch_ns.reserve(expected);
  for (int i = 0; i < settings.iterations; ++i) {
    samples.latency_ns.push_back(iteration_ns(&dispatch_ns));
    samples.dispatch_ns.push_back(dispatch_ns);
  }
  for (int i = 0; workload.device_latency && i < settings.iterations; ++i) {
    samples.device_latency_ns.push_back(workload.device_latency());
  }
  if (!workload.synchronize) {
    samples.dispatch_ns.clear();
    samples.dispatch_unavailable =
        "the call returns when the work is done, so there is no dispatch apart";
  }

  if (settings.traced && workload.tracer.begin) {
    workload.tracer.begin();
    for (int i = 0; i < settings.traced_iterations; ++i) {
      workload.tracer.step(i, workload.iterate);
      synchronize();
    }
    workload.tracer.end(settings.folder + "/trace.json");
  }
  return samples;
}

// Writes samples.json, atomically; prints a summary if the program was started by hand.
inline void Finish(const Settings& settings, const Samples& samples) {
  internal::WriteWhole(settings.folder + "/samples.json", internal::ToJson(samples));
  if (!settings.by_hand) return;
  std::fprintf(
      stderr,
      "perfgate: started by hand (PERFGATE_ATTEMPT_DIR is not set), so with default windows\n"
      "  cold start %.1f ms, %d warm-up iterations (%s)\n"
      "  latency p50 %.1f us over %zu iterations\n"
      "  files in %s\n",
      static_cast<double>(samples.cold_start_ns) / 1e6, samples.warmup_iterations,
      samples.steady ? "steady" : "not steady",
      samples.latency_ns.empty() ? 0.0
                                 : static_cast<double>(internal::Median(samples.latency_ns)) / 1e3,
      samples.latency_ns.size(), settings.folder.c_str());
}

}  // namespace attempt
}  // namespace perfgate
