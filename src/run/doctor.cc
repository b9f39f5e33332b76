// What this machine can measure.
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "run/ask.h"
#include "run/collector.h"
#include "run/instructions.h"
#include "run/run.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPatienceNs = 60'000'000'000;  // the first import of torch takes some seconds

// Versions of torch and of the CUDA that it is built for, and the CUPTI that came with it.
constexpr const char* kAskPython = R"(
import glob, os, torch
found = glob.glob(os.path.join(os.path.dirname(os.path.dirname(torch.__file__)),
                               "nvidia", "*", "lib", "libcupti.so.1[23]"))
print(torch.__version__, torch.version.cuda or "", (found or [""])[0], sep="\n")
)";

// Where the collector looks for CUPTI.
constexpr const char* kFindCupti =
    "ls /usr/local/cuda/lib64/libcupti.so /usr/local/cuda/extras/CUPTI/lib64/libcupti.so "
    "2>/dev/null; /sbin/ldconfig -p | sed -n 's/.*=> \\(.*libcupti[.]so[.]1[23]\\)$/\\1/p'";

std::vector<std::string> LinesOf(const Response& response) {
  std::vector<std::string> lines;
  for (const std::string& line : Split(response.text, '\n')) lines.push_back(Printable(Trim(line)));
  return lines;
}

std::string Line(const Response& response, size_t i) {
  const std::vector<std::string> lines = LinesOf(response);
  return i < lines.size() ? lines[i] : "";
}

// Why it is no answer: the last line that it said.
std::string FaultOf(const Response& response) {
  const std::vector<std::string> errors =
      Split(std::string(Trim(response.result.stderr_tail)), '\n');
  if (!errors.back().empty()) return errors.back();
  const std::string first = Line(response, 0);
  return first.empty() ? response.result.fault : first;
}

Part Cpu(World& world) {
  std::map<std::string, std::string> machine = world.Machine();
  return {"cpu",
          fmt::format("{}, {}, {} cores", machine["cpu"], machine["cpu_isa"], machine["cores"]), "",
          ""};
}

std::string DriverCommand(World& world) {
  const std::string os = world.Machine()["os"];
  if (os.starts_with("Ubuntu")) return "sudo ubuntu-drivers install";
  return "sudo apt-get install nvidia-driver";
}

Part Gpu(World& world) {
  const Response response =
      Ask({"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"}, kPatienceNs,
          world);
  if (!response.started()) {
    return {"gpu", "", "no driver of NVIDIA (nvidia-smi is not there)", DriverCommand(world)};
  }
  if (!response.result.fault.empty() || Line(response, 0).empty()) {
    return {"gpu", "", "nvidia-smi: " + FaultOf(response), "sudo modprobe nvidia"};
  }
  std::string found;
  for (const std::string& line : LinesOf(response)) {
    if (!line.empty()) found += (found.empty() ? "" : "; ") + line;
  }
  return {"gpu", found, "", ""};
}

Part Runner(const std::string& runner, World& world) {
  const Response response = Ask({runner, "--version"}, kPatienceNs, world);
  if (!response.started()) {
    return {"perfgate-torch", "", "neither beside perfgate nor on PATH",
            "ci/build, or export PERFGATE_TORCH=FILE"};
  }
  if (!response.result.fault.empty()) {
    return {"perfgate-torch", "", Printable(FaultOf(response)),
            "export LD_LIBRARY_PATH=$(python3 -c 'import os, torch; "
            "print(os.path.dirname(torch.__file__))')/lib"};
  }
  return {"perfgate-torch", fmt::format("{} ({})", Line(response, 0), Printable(runner)), "", ""};
}

// torch of python3, and whether it is built for CUDA.
std::vector<Part> Python(const Response& response) {
  const auto none = [](const std::string& why, const std::string& mend) {
    return std::vector<Part>{{"python torch", "", why, mend}, {"torch for CUDA", "", why, mend}};
  };
  if (!response.started())
    return none("python3 is not on PATH", "sudo apt-get install python3-venv");
  if (!response.result.fault.empty()) {
    return none(Printable(FaultOf(response)), "python3 -m pip install torch");
  }
  const std::string torch = "torch " + Line(response, 0), cuda = Line(response, 1);
  if (!cuda.empty()) {
    return {{"python torch", torch, "", ""}, {"torch for CUDA", "CUDA " + cuda, "", ""}};
  }
  return {{"python torch", torch, "", ""},
          {"torch for CUDA", "", torch + " is built for the CPU only",
           "python3 -m pip install --force-reinstall torch --index-url "
           "https://download.pytorch.org/whl/cu130"}};
}

Part Collector(World& world) {
  const fs::path path = FindCollector(world);
  if (!path.empty()) return {"collector", Printable(path.string()), "", ""};
  const std::string given = world.Getenv("PERFGATE_CUPTI_COLLECTOR");
  return {"collector", "",
          given.empty() ? "libperfgate_cupti.so is neither beside perfgate nor in ../lib"
                        : "PERFGATE_CUPTI_COLLECTOR: there is no file " + Printable(given),
          "ci/build, or export PERFGATE_CUPTI_COLLECTOR=FILE"};
}

Part Cupti(World& world, const Response& python) {
  constexpr const char* kMend =
      "python3 -m pip install nvidia-cuda-cupti, and export PERFGATE_CUPTI_LIB=FILE";
  const std::string given = world.Getenv("PERFGATE_CUPTI_LIB");
  std::error_code error;  // a name without a folder is the loader's to find
  if (given.find('/') != std::string::npos && !fs::exists(given, error)) {
    return {"cupti", "", "PERFGATE_CUPTI_LIB: there is no file " + Printable(given), kMend};
  }
  if (!given.empty()) return {"cupti", Printable(given) + " (PERFGATE_CUPTI_LIB)", "", ""};
  const std::string system = Line(Ask({"sh", "-c", kFindCupti}, kPatienceNs, world), 0);
  if (!system.empty()) return {"cupti", system, "", ""};
  if (const std::string wheel = Line(python, 2); !wheel.empty()) {
    return {"cupti", wheel + " (for other programs than those of torch: export PERFGATE_CUPTI_LIB)",
            "", ""};
  }
  return {"cupti", "", "libcupti.so.13 or .12 is not there", kMend};
}

Part Instructions(World& world) {
  const InstructionCounter counter = FindInstructionCounter(world);
  constexpr const char* kName = "instructions";
  if (!counter.fault.empty()) return {kName, "", counter.fault, kInstallCounter};
  if (counter.tool == InstructionCounter::Tool::kPerf) return {kName, "perf stat", "", ""};
  return {kName, fmt::format("valgrind --tool=callgrind ({})", counter.why), "", ""};
}

}  // namespace

bool Examination::Has(std::string_view part) const {
  for (const Part& each : parts) {
    if (each.name == part) return each.fault.empty();
  }
  return false;
}

Examination Examine(const std::string& torch_runner, World& world) {
  Examination found;
  const Response python = Ask({"python3", "-c", kAskPython}, kPatienceNs, world);
  found.parts = {Cpu(world), Gpu(world), Runner(torch_runner, world)};
  for (Part& part : Python(python)) found.parts.push_back(std::move(part));
  found.parts.push_back(Collector(world));
  found.parts.push_back(Cupti(world, python));
  found.parts.push_back(Instructions(world));
  found.abilities = {
      {"torch: workloads on the CPU", {"perfgate-torch"}},
      {"torch: workloads on the GPU", {"perfgate-torch", "gpu"}},
      {"Python scripts by torch.profiler on the CPU", {"python torch"}},
      {"Python scripts by torch.profiler on the GPU", {"torch for CUDA", "gpu"}},
      {"any CUDA program by the collector (profiler: cupti)", {"collector", "cupti", "gpu"}},
      {"CPU instructions of any command (profiler: instructions)", {"instructions"}},
  };
  return found;
}

}  // namespace perfgate
