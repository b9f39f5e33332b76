#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <ranges>
#include <vector>

#include "torch/fault.h"

namespace perfgate::runner {
namespace {

struct KnownFault {
  std::string_view text;  // what LibTorch's message holds
  std::string_view name;
  std::string_view next;
};

constexpr std::array kFaults = {
    KnownFault{"CUDA out of memory", "out of GPU memory",
               "use a smaller batch, or end what else runs on this GPU (nvidia-smi)"},
    KnownFault{"can't allocate memory", "out of memory",
               "use a smaller batch, or give the process more memory"},
    KnownFault{"uncorrectable ECC error", "ECC error of the GPU",
               "its memory is faulty: measure elsewhere, and see nvidia-smi -q -d ECC"},
    KnownFault{"illegal memory access", "illegal memory access on the GPU",
               "a kernel read or wrote where nothing is; compute-sanitizer names it"},
    KnownFault{"misaligned address", "illegal memory access on the GPU",
               "a kernel read or wrote across an alignment; compute-sanitizer names it"},
    KnownFault{"device-side assert triggered", "assertion of a GPU kernel",
               "an index was out of range, as a rule; CUDA_LAUNCH_BLOCKING=1 names the operator"},
    KnownFault{"no kernel image is available", "GPU unknown to this LibTorch",
               "it holds no code for this architecture; use a LibTorch built for it"},
    KnownFault{"driver on your system is too old", "driver too old",
               "update the NVIDIA driver, or use a LibTorch built for an older CUDA"},
    KnownFault{
        "busy or unavailable", "GPU not available",
        "another process has it for itself, or it is in a prohibited compute mode: nvidia-smi"},
    KnownFault{"No available kernel", "attention that cannot serve",
               "this implementation takes no such type, shape or device (warnings above say why); "
               "choose another"},
    KnownFault{"Invalid backend", "attention that cannot serve",
               "this implementation takes no such type, shape or device (warnings above say why); "
               "choose another"},
    KnownFault{"stream is capturing", "no CUDA graph",
               "the workload waits for the GPU or copies from it, which a graph cannot hold; use "
               "mode eager"},
    KnownFault{"error during capture", "no CUDA graph",
               "the workload waits for the GPU or copies from it, which a graph cannot hold; use "
               "mode eager"},
};

// The first line says what happened; after a traceback of a script it is the last one.
std::string Essence(std::string_view libtorch) {
  if (libtorch.find("TorchScript interpreter") != std::string_view::npos) {
    while (libtorch.ends_with('\n')) libtorch.remove_suffix(1);
    libtorch.remove_prefix(libtorch.rfind('\n') + 1);
  }
  return std::string(libtorch.substr(0, libtorch.find('\n')));
}

}  // namespace

std::string Explain(std::string_view libtorch) {
  const std::string line = Essence(libtorch);
  for (const KnownFault& known : kFaults) {
    if (libtorch.find(known.text) == std::string_view::npos) continue;
    return std::string(known.name) + ": " + std::string(known.next) + "\n  LibTorch: " + line;
  }
  return "LibTorch: " + line;
}

std::string ExplainExport(std::string_view log) {
  constexpr std::string_view kCompilerError = ": error: ";
  constexpr size_t kMostColumns = 300, kMostLines = 8;
  if (const size_t at = log.find(kCompilerError); at != std::string_view::npos) {
    const std::string_view line = log.substr(at + 2, log.find('\n', at) - at - 2);
    return fmt::format(
        "the C++ that AOTInductor wrote does not compile, a fault of this torch; use another mode, "
        "or another torch\n  {}",
        line.substr(0, kMostColumns));
  }
  std::vector<std::string_view> lines;
  for (const auto line : std::views::split(log, '\n')) {
    if (!line.empty()) lines.emplace_back(line.begin(), line.end());
  }
  if (lines.size() > kMostLines) lines.erase(lines.begin(), lines.end() - kMostLines);
  return fmt::format("{}", fmt::join(lines, "\n  "));
}

}  // namespace perfgate::runner
