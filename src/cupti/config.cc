#include "cupti/config.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

namespace perfgate::cupti {
namespace {

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// The number that `text` starts with, which is then taken off.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

std::optional<int64_t> Whole(std::string_view text) {
  const std::optional<int64_t> value = TakeNumber(text);
  return text.empty() ? value : std::nullopt;
}

// "5s", "200ms"
std::optional<int64_t> Duration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 5> kUnits = {
      {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}, {"min", 60'000'000'000}}};
  const std::optional<int64_t> value = TakeNumber(text);
  for (const auto& [unit, ns] : kUnits) {
    if (value && text == unit && *value <= INT64_MAX / ns) return *value * ns;
  }
  return std::nullopt;
}

void ReadCount(const char* name, int64_t& value, std::string& fault) {
  const std::string_view text = Environment(name);
  if (text.empty()) return;
  if (const std::optional<int64_t> number = Whole(text)) {
    value = *number;
  } else {
    fault = std::string(name) + "='" + std::string(text) + "': expected a whole number";
  }
}

void ReadWindow(std::string_view text, Config& config) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(part.size() == text.size() ? part.size() : part.size() + 1);
    const std::string_view key = part.substr(0, part.find('='));
    const std::string_view value =
        part.substr(key.size() == part.size() ? key.size() : key.size() + 1);
    const std::optional<int64_t> number = key == "kernels" ? Whole(value) : Duration(value);
    int64_t* target = key == "after"     ? &config.after_ns
                      : key == "for"     ? &config.for_ns
                      : key == "kernels" ? &config.kernels
                                         : nullptr;
    if (target == nullptr || !number) {
      config.fault = "PERFGATE_CUPTI_WINDOW: '" + std::string(part) +
                     "' is not understood; expected after=5s, for=2s, kernels=100000";
      return;
    }
    *target = *number;
  }
}

void ReadRank(Config& config) {
  constexpr std::array<std::pair<const char*, const char*>, 3> kLaunchers = {
      {{"RANK", "WORLD_SIZE"},
       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
       {"SLURM_PROCID", "SLURM_NTASKS"}}};
  for (const auto& [rank, size] : kLaunchers) {
    const std::optional<int64_t> number = Whole(Environment(rank));
    if (!number || *number > INT32_MAX) continue;
    config.rank = static_cast<int>(*number);
    const std::optional<int64_t> ranks = Whole(Environment(size));
    if (ranks && *ranks <= INT32_MAX) config.world_size = static_cast<int>(*ranks);
    return;
  }
}

}  // namespace

Config ReadConfig() {
  Config config;
  if (const std::string_view folder = Environment("PERFGATE_ATTEMPT_DIR"); !folder.empty()) {
    config.folder = folder;
  }
  config.library = Environment("PERFGATE_CUPTI_LIB");
  config.step_range = Environment("PERFGATE_NVTX_STEPS");
  ReadCount("PERFGATE_WARMUP", config.skipped_steps, config.fault);
  ReadCount("PERFGATE_TRACED_ITERATIONS", config.steps, config.fault);
  ReadCount("PERFGATE_CUPTI_MOST_EVENTS", config.most_events, config.fault);
  ReadWindow(Environment("PERFGATE_CUPTI_WINDOW"), config);
  ReadRank(config);
  if (config.fault.empty() && !config.step_range.empty()) {
    if (config.after_ns + config.for_ns + config.kernels > 0) {
      config.fault = "PERFGATE_NVTX_STEPS and PERFGATE_CUPTI_WINDOW are both set: give one window";
    } else if (config.steps == 0) {
      config.fault = "PERFGATE_TRACED_ITERATIONS is 0: a window needs a step";
    }
  }
  return config;
}

}  // namespace perfgate::cupti
