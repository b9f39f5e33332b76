#include "run/collector.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libperfgate_cupti.so";

constexpr const char* kCudaSlot = "CUDA_INJECTION64_PATH";
constexpr const char* kNvtxSlot = "NVTX_INJECTION64_PATH";
constexpr const char* kPreloadSeparators = " \t\n:";

bool IsLibrary(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string NotFound(World& world) {
  const std::string given = world.Getenv("PERFGATE_CUPTI_COLLECTOR");
  if (!given.empty()) {
    return fmt::format("collector not found: PERFGATE_CUPTI_COLLECTOR says {}", Printable(given));
  }
  return fmt::format(
      "collector not found: {} is neither beside perfgate nor in ../lib; build it (ci/build), or "
      "point PERFGATE_CUPTI_COLLECTOR at it",
      kLibrary);
}

// CUDA and NVTX load one library each. "" if both are free.
std::string SlotTaken(World& world) {
  for (const char* slot : {kCudaSlot, kNvtxSlot}) {
    const std::string taken = world.Getenv(slot);
    if (taken.empty()) continue;
    return fmt::format(
        "{} is set to {}: another tool would be loaded in the collector's place; unset "
        "it",
        slot, Printable(taken));
  }
  return "";
}

}  // namespace

fs::path FindCollector(World& world) {
  const std::string given = world.Getenv("PERFGATE_CUPTI_COLLECTOR");
  if (!given.empty()) return IsLibrary(given) ? fs::absolute(given) : fs::path();
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& path : {folder / kLibrary, folder.parent_path() / "lib" / kLibrary}) {
    if (!error && IsLibrary(path)) return path;
  }
  return {};
}

Injection InjectCollector(const Case& declared, World& world) {
  if (std::string fault = SlotTaken(world); !fault.empty()) return {{}, std::move(fault)};
  const std::string collector = FindCollector(world).string();
  if (collector.empty()) return {{}, NotFound(world)};
  if (collector.find_first_of(kPreloadSeparators) != std::string::npos) {
    return {
        {},
        fmt::format("the collector is {}: LD_PRELOAD splits its paths at blanks and colons; put "
                    "perfgate, or a copy that PERFGATE_CUPTI_COLLECTOR names, where there are none",
                    Printable(collector))};
  }
  const std::string preloaded = world.Getenv("LD_PRELOAD");
  return {{{kCudaSlot, collector},
           {kNvtxSlot, collector},
           // For ends of a process that run no exit handlers.
           {"LD_PRELOAD", preloaded.empty() ? collector : collector + ":" + preloaded},
           {"PERFGATE_NVTX_STEPS", declared.nvtx_steps},
           {"PERFGATE_CUPTI_WINDOW", declared.cupti_window}},
          ""};
}

}  // namespace perfgate
