#include "run/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/text.h"

namespace perfgate {
namespace {

std::string Contents(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The instruction set that decides which kernels ATen and Inductor choose.
std::string CpuIsa([[maybe_unused]] const std::string& cpuinfo) {
#if defined(__x86_64__)
  const bool fma = __builtin_cpu_supports("fma");
  if (fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return "avx512";
  }
  return fma && __builtin_cpu_supports("avx2") ? "avx2" : "x86-64";
#elif defined(__aarch64__)
  const std::string features = " " + ValueInLines(cpuinfo, "Features", ':') + " ";
  return features.find(" sve ") != std::string::npos ? "sve" : "neon";
#else
  return "";
#endif
}

// Arm's cpuinfo has no model name, only numbers of its maker.
std::string CpuModel(const std::string& cpuinfo) {
  const std::string name = ValueInLines(cpuinfo, "model name", ':');
  if (!name.empty()) return name;
  const std::string maker = ValueInLines(cpuinfo, "CPU implementer", ':');
  return maker.empty()
             ? ""
             : fmt::format("implementer {} part {}", maker, ValueInLines(cpuinfo, "CPU part", ':'));
}

int Cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::string ValueInLines(const std::string& text, const std::string& key, char separator) {
  for (const std::string& line : Split(text, '\n')) {
    const size_t at = line.find(separator);
    if (at == std::string::npos || Trim(std::string_view(line).substr(0, at)) != key) continue;
    std::string_view value = Trim(std::string_view(line).substr(at + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return std::string(value);
  }
  return "";
}

std::map<std::string, std::string> MachineFacts() {
  const std::string cpuinfo = Contents("/proc/cpuinfo");
  std::map<std::string, std::string> facts;
  const auto add = [&facts](const char* name, std::string value) {
    if (!value.empty()) facts[name] = Printable(value);
  };
  add("cpu", CpuModel(cpuinfo));
  add("cpu_isa", CpuIsa(cpuinfo));
  add("cores", fmt::format("{}", Cores()));
  add("os", ValueInLines(Contents("/etc/os-release"), "PRETTY_NAME", '='));
  utsname system{};
  if (::uname(&system) == 0) {
    add("kernel", system.release);
    add("host", system.nodename);
  }
  // Which GPUs all attempts see, and in which order.
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    add("cuda_visible_devices", *visible == '\0' ? "none" : visible);
  }
  return facts;
}

}  // namespace perfgate
