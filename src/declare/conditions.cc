#include <algorithm>
#include <limits>

#include "declare/workload.h"

namespace perfgate {
namespace {

constexpr int64_t kDayNs = int64_t{24} * 3600 * 1'000'000'000;
constexpr int64_t kMostIterations = 10'000'000;

void SetInt(const Reader& holder, std::string_view key, int64_t least, int64_t most, int& out) {
  const auto reader = holder.Find(key);
  if (!reader) return;
  if (const auto value = reader->Int(least, most)) out = static_cast<int>(*value);
}

void ReadWarmup(const Reader& warmup, Windows& windows) {
  if (!warmup.Map(kWarmupKeys)) return;
  SetInt(warmup, "iterations", 0, kMostIterations, windows.warmup_iterations);
  if (const auto steady = warmup.Find("until_steady")) {
    windows.warmup_until_steady = steady->Bool().value_or(windows.warmup_until_steady);
  }
  if (const auto most = warmup.Find("at_most")) {
    windows.warmup_at_most_ns = most->DurationNs(kDayNs).value_or(windows.warmup_at_most_ns);
  }
}

bool IsDevice(const std::string& text) {
  if (text == "auto" || text == "cpu" || text == "cuda") return true;
  if (!text.starts_with("cuda:") || text.size() < 6 || text.size() > 7) return false;
  return std::all_of(text.begin() + 5, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Conditions ReadConditions(const Reader& holder, const Conditions& base) {
  Conditions out = base;
  if (const auto device = holder.Find("device")) {
    if (device->IsScalar() && IsDevice(device->value().text)) {
      out.device = device->value().text;
    } else {
      device->FailExpected("one of auto, cpu, cuda, cuda:N");
    }
  }
  SetInt(holder, "threads", 1, 4096, out.threads);
  if (const auto warmup = holder.Find("warmup")) ReadWarmup(*warmup, out.windows);
  if (const auto timed = holder.Find("timed"); timed && timed->Map(kTimedKeys)) {
    SetInt(*timed, "iterations", 1, kMostIterations, out.windows.timed_iterations);
  }
  if (const auto traced = holder.Find("traced"); traced && traced->Map(kTracedKeys)) {
    SetInt(*traced, "iterations", 1, 10'000, out.windows.traced_iterations);
    SetInt(*traced, "processes", 1, 100, out.windows.traced_processes);
  }
  if (const auto timeout = holder.Find("timeout")) {
    out.timeout_ns = timeout->DurationNs(kDayNs).value_or(out.timeout_ns);
  }
  return out;
}

}  // namespace perfgate
