// What selftest plants, and where.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/selftest.h"

namespace perfgate::cli {
namespace {

constexpr int kContext = 4096;                    // tokens in the cache of `decode`
constexpr std::array kDelays = {0.05, 0.2, 0.8};  // of a step
constexpr std::array kLonger = {0.1, 0.5, 2.0};   // of the cache

struct Defect {
  const char* plant;
  const char* in_words;
  bool gpu_only;
};
constexpr std::array<Defect, 4> kDefects = {{
    {"clone", "a copy of a tensor that nobody asked for", false},
    {"cast", "a detour through a wider element type", false},
    {"split_activation", "one operator in two halves", false},
    {"sync", "a wait of the host for the GPU", true},
}};

// The longer cache is the one workload whose work differs by side: its queries have the same
// shapes, so that the gate takes both sides for the same work.
constexpr std::string_view kCacheScript =
    R"(# usage: cache.sh TOKENS_OF_BASE TOKENS_OF_HEAD COMMAND...
tokens=$1
[ "$PERFGATE_SIDE" = head ] && tokens=$2
shift 2
exec "$@" --set context="$tokens"
)";

constexpr std::string_view kRules = R"(version: 1
rules:
  - id: p50
    why: A slower step with the same kernels.
    metric: latency.p50
    regression: {{tolerance: {:g}%}}
)";

constexpr std::string_view kHead = R"(version: 1
suite: selftest
defaults:
  threads: 1
  warmup: {iterations: 20, until_steady: false}
  timed: {iterations: 100}
  traced: {iterations: 3, processes: 2}
rules: [perfgate:structure, perfgate:fusion, perfgate:precision, perfgate:gpu-time, perfgate:numerics, times.yaml]
workloads:
  - name: geglu
    torch: {module: geglu, hidden: 256, intermediate: 1024, input: {shape: [64, 256], dtype: fp32}}
  - name: mlp
    torch: {module: mlp, hidden: 256, intermediate: 1024, input: {shape: [64, 256], dtype: fp32}}
  - name: geglu_numbers
    torch: {module: geglu, hidden: 256, intermediate: 1024, input: {shape: [64, 256], dtype: fp32}}
    reference: geglu
  - name: mlp_numbers
    torch: {module: mlp, hidden: 256, intermediate: 1024, input: {shape: [64, 256], dtype: fp32}}
    reference: mlp
)";

std::string CacheName(double longer) {
  return longer == 0 ? "decode" : fmt::format("decode_{:g}_percent_more", longer * 100);
}

std::string YamlText(const std::string& text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return "'" + quoted + "'";
}

std::string CacheWorkload(const std::string& runner, double longer) {
  return fmt::format(
      "  - name: {}\n    command: [sh, cache.sh, '{}', '{:.0f}', {}, --module, decode, --set, "
      "hidden=64, --set, heads=4, --input-shape, '4,64', --input-dtype, fp32]\n",
      CacheName(longer), kContext, kContext * (1 + longer), YamlText(runner));
}

const Case& Find(const std::vector<Case>& cases, const std::string& name) {
  const auto found = std::find_if(cases.begin(), cases.end(),
                                  [&](const Case& declared) { return declared.name == name; });
  if (found == cases.end()) throw Error(Fault::kBug, "selftest has no case " + name);
  return *found;
}

Planted With(Group group, Case declared, const std::string& plant, const std::string& defect,
             double size = 0) {
  const std::string workload = declared.name;
  declared.name += fmt::format("[plant={}]", plant);
  declared.plant = plant;
  return {group, workload, std::move(declared), fmt::format("{} ({})", defect, plant), size};
}

}  // namespace

void WriteSelftestSuite(const std::filesystem::path& folder, const std::string& runner) {
  std::string suite(kHead);
  suite += CacheWorkload(runner, 0);
  for (const double longer : kLonger) suite += CacheWorkload(runner, longer);
  WriteFileAtomically(folder / "perfgate.yaml", suite);
  WriteFileAtomically(folder / "times.yaml",
                      fmt::format(fmt::runtime(kRules), kSelftestTolerance * 100));
  WriteFileAtomically(folder / "cache.sh", kCacheScript);
}

std::vector<Planted> UnchangedCases(const std::vector<Case>& cases) {
  std::vector<Planted> unchanged;
  for (const char* name : {"geglu", "mlp", "decode"}) {
    unchanged.push_back({Group::kUnchanged, name, Find(cases, name), "nothing", 0});
  }
  return unchanged;
}

std::vector<Planted> StructureCases(const std::vector<Case>& cases, bool on_gpu) {
  std::vector<Planted> planted;
  for (const Defect& defect : kDefects) {
    if (defect.gpu_only && !on_gpu) continue;
    for (const char* name : {"geglu", "mlp"}) {
      planted.push_back(With(Group::kStructure, Find(cases, name), defect.plant, defect.in_words));
    }
  }
  return planted;
}

std::vector<Planted> NumbersCases(const std::vector<Case>& cases) {
  std::vector<Planted> planted;
  for (const std::string name : {"geglu", "mlp"}) {
    planted.push_back(With(Group::kNumbers, Find(cases, name + "_numbers"), "narrow",
                           "a detour through a narrower element type"));
    planted.back().workload = name;
  }
  return planted;
}

std::vector<Planted> DelayCases(const std::vector<Case>& cases, double step_ns) {
  std::vector<Planted> planted;
  for (const double part : kDelays) {
    const double us = std::max(1.0, std::round(part * step_ns / 1000));
    planted.push_back(With(Group::kTime, Find(cases, "geglu"), fmt::format("delay_{:.0f}us", us),
                           fmt::format("the host busy for {:g} % of a step longer", part * 100),
                           part));
  }
  return planted;
}

std::vector<Planted> CacheCases(const std::vector<Case>& cases) {
  std::vector<Planted> planted;
  for (const double longer : kLonger) {
    planted.push_back({Group::kTime, CacheName(0), Find(cases, CacheName(longer)),
                       fmt::format("a cache of {:g} % more tokens", longer * 100), longer});
  }
  return planted;
}

}  // namespace perfgate::cli
