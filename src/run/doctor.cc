// What this machine can measure.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
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

struct Reply {
  AttemptResult result;
  std::vector<std::string> lines;  // of standard output

  bool started() const { return result.outcome != Outcome::kNotStarted; }
  std::string Line(size_t i) const { return i < lines.size() ? lines[i] : ""; }
  // Why it is no answer: the last line that it said.
  std::string Fault() const {
    const std::vector<std::string> errors = Split(std::string(Trim(result.stderr_tail)), '\n');
    if (!errors.back().empty()) return errors.back();
    return Line(0).empty() ? result.fault : Line(0);
  }
};

// Asks programs; what they print goes through a folder that is gone afterwards.
class Questions {
 public:
  explicit Questions(World& world)
      : world_(world),
        folder_(fs::temp_directory_path() / fmt::format("perfgate-doctor-{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~Questions() {
    std::error_code error;
    fs::remove_all(folder_, error);
  }
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  const fs::path& folder() const { return folder_; }

  Reply Ask(std::vector<std::string> argv) {
    Process process;
    process.argv = std::move(argv);
    process.cwd = folder_;
    process.timeout_ns = kPatienceNs;
    process.stdout_file = folder_ / "stdout";
    std::error_code error;
    fs::remove(process.stdout_file, error);
    Reply reply;
    reply.result = world_.RunProcess(process);
    if (!fs::exists(process.stdout_file, error)) return reply;
    for (const std::string& line : Split(ReadFile(process.stdout_file), '\n')) {
      reply.lines.push_back(Printable(Trim(line)));
    }
    return reply;
  }

 private:
  World& world_;
  fs::path folder_;
};

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

Part Gpu(World& world, Questions& questions) {
  const Reply reply =
      questions.Ask({"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"});
  if (!reply.started()) {
    return {"gpu", "", "no driver of NVIDIA (nvidia-smi is not there)", DriverCommand(world)};
  }
  if (!reply.result.fault.empty() || reply.Line(0).empty()) {
    return {"gpu", "", "nvidia-smi: " + reply.Fault(), "sudo modprobe nvidia"};
  }
  std::string found;
  for (const std::string& line : reply.lines) {
    if (!line.empty()) found += (found.empty() ? "" : "; ") + line;
  }
  return {"gpu", found, "", ""};
}

Part Runner(const std::string& runner, Questions& questions) {
  const Reply reply = questions.Ask({runner, "--version"});
  if (!reply.started()) {
    return {"perfgate-torch", "", "neither beside perfgate nor on PATH",
            "ci/build, or export PERFGATE_TORCH=FILE"};
  }
  if (!reply.result.fault.empty()) {
    return {"perfgate-torch", "", Printable(reply.Fault()),
            "export LD_LIBRARY_PATH=$(python3 -c 'import os, torch; "
            "print(os.path.dirname(torch.__file__))')/lib"};
  }
  return {"perfgate-torch", fmt::format("{} ({})", reply.Line(0), Printable(runner)), "", ""};
}

// torch of python3, and whether it is built for CUDA.
std::vector<Part> Python(const Reply& reply) {
  const auto none = [](const std::string& why, const std::string& mend) {
    return std::vector<Part>{{"python torch", "", why, mend}, {"torch for CUDA", "", why, mend}};
  };
  if (!reply.started()) return none("python3 is not on PATH", "sudo apt-get install python3-venv");
  if (!reply.result.fault.empty()) {
    return none(Printable(reply.Fault()), "python3 -m pip install torch");
  }
  const std::string torch = "torch " + reply.Line(0), cuda = reply.Line(1);
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

Part Cupti(World& world, Questions& questions, const Reply& python) {
  constexpr const char* kMend =
      "python3 -m pip install nvidia-cuda-cupti, and export PERFGATE_CUPTI_LIB=FILE";
  const std::string given = world.Getenv("PERFGATE_CUPTI_LIB");
  std::error_code error;  // a name without a folder is the loader's to find
  if (given.find('/') != std::string::npos && !fs::exists(given, error)) {
    return {"cupti", "", "PERFGATE_CUPTI_LIB: there is no file " + Printable(given), kMend};
  }
  if (!given.empty()) return {"cupti", Printable(given) + " (PERFGATE_CUPTI_LIB)", "", ""};
  const std::string system = questions.Ask({"sh", "-c", kFindCupti}).Line(0);
  if (!system.empty()) return {"cupti", system, "", ""};
  if (const std::string wheel = python.Line(2); !wheel.empty()) {
    return {"cupti", wheel + " (for other programs than those of torch: export PERFGATE_CUPTI_LIB)",
            "", ""};
  }
  return {"cupti", "", "libcupti.so.13 or .12 is not there", kMend};
}

Part Instructions(const fs::path& folder, World& world) {
  const InstructionCounter counter = FindInstructionCounter(folder, world);
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
  Questions questions(world);
  Examination found;
  const Reply python = questions.Ask({"python3", "-c", kAskPython});
  found.parts = {Cpu(world), Gpu(world, questions), Runner(torch_runner, questions)};
  for (Part& part : Python(python)) found.parts.push_back(std::move(part));
  found.parts.push_back(Collector(world));
  found.parts.push_back(Cupti(world, questions, python));
  found.parts.push_back(Instructions(questions.folder(), world));
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
