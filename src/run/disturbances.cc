// What of this machine's state makes times vary: looked at, never guessed.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "base/text.h"
#include "run/ask.h"
#include "run/machine.h"
#include "run/run.h"

namespace perfgate {
namespace {

constexpr double kTicks = 100;        // a second: USER_HZ of every Linux that we run on
constexpr double kBusyOther = 0.1;    // of a CPU, by one other process, is worth a word
constexpr double kBusyOthers = 0.05;  // of all CPUs, by all others together
constexpr double kStolen = 0.01;      // of all CPUs
constexpr size_t kMostNamed = 3;
constexpr int64_t kNvidiaSmiNs = 10'000'000'000;

double Number(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string> Fields(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> fields;
  for (std::string field; in >> field;) fields.push_back(field);
  return fields;
}

std::string Text(World& world, const std::string& path) {
  return std::string(Trim(world.SystemFile(path)));
}

// "cpu user nice system idle iowait irq softirq steal ..." of /proc/stat, in ticks.
void ReadCpus(World& world, SystemReading* reading) {
  for (const std::string& line : Split(world.SystemFile("/proc/stat"), '\n')) {
    const std::vector<std::string> fields = Fields(line);
    if (fields.empty() || !fields[0].starts_with("cpu")) continue;
    if (fields[0] != "cpu") {
      ++reading->cores;
      continue;
    }
    for (size_t i = 1; i < std::min<size_t>(fields.size(), 9); ++i) {
      if (i == 8) reading->stolen_s = Number(fields[i]) / kTicks;
      if (i != 4 && i != 5 && i != 8) reading->busy_s += Number(fields[i]) / kTicks;
    }
  }
}

// The fields of /proc/PID/stat behind the name, which may hold anything; the first one is the
// state.
struct ProcessStat {
  std::string name;
  std::vector<std::string> fields;
  // Field numbers as in proc(5).
  double Seconds(size_t number) const {
    return number - 3 < fields.size() ? Number(fields[number - 3]) / kTicks : 0;
  }
};

ProcessStat StatOf(World& world, const std::string& pid) {
  const std::string text = world.SystemFile("/proc/" + pid + "/stat");
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return {text.substr(open + 1, close - open - 1), Fields(text.substr(close + 1))};
}

int64_t SumOf(World& world, const std::string& name) {
  constexpr const char* kFolder = "/sys/devices/system/cpu";
  int64_t sum = 0;
  for (const std::string& cpu : world.SystemFolder(kFolder)) {
    const std::string file = fmt::format("{}/{}/thermal_throttle/{}", kFolder, cpu, name);
    sum += static_cast<int64_t>(Number(Text(world, file)));
  }
  return sum;
}

class Finder {
 public:
  Finder(const SystemReading& before, const SystemReading& after, World& world)
      : before_(before), after_(after), world_(world) {
    elapsed_s_ = std::max(1e-9, static_cast<double>(after.at_ns - before.at_ns) / 1e9);
  }

  void OtherLoad() {
    if (after_.cores == 0) return;
    const double own = after_.own_s - before_.own_s;
    const double others = (after_.busy_s - before_.busy_s - own) / elapsed_s_;
    std::vector<std::pair<double, std::string>> named;
    for (const auto& [pid, process] : after_.others) {
      const auto earlier = before_.others.find(pid);
      if (earlier == before_.others.end()) continue;
      const double share = (process.second - earlier->second.second) / elapsed_s_;
      if (share < kBusyOther) continue;
      named.emplace_back(
          share, fmt::format("{} (pid {}) {:.0f} %", Printable(process.first), pid, share * 100));
    }
    if (named.empty() && others < kBusyOthers * static_cast<double>(after_.cores)) return;
    std::sort(named.rbegin(), named.rend());
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(named.size(), kMostNamed); ++i)
      names.push_back(named[i].second);
    Add(fmt::format("other processes kept {:.1f} of {} CPUs busy meanwhile{}{}",
                    std::max(others, 0.0), after_.cores, names.empty() ? "" : ": ",
                    Join(names, ", ")),
        "measure when nothing else runs; `top` shows who does");
  }

  void Hypervisor() {
    const double stolen = (after_.stolen_s - before_.stolen_s) / elapsed_s_;
    if (after_.cores == 0 || stolen < kStolen * static_cast<double>(after_.cores)) return;
    Add(fmt::format("the hypervisor gave {:.1f} of {} CPUs to other machines meanwhile (steal)",
                    stolen, after_.cores),
        "use a runner with CPUs of its own (a dedicated or bare-metal machine)");
  }

  void Limits() {
    if (after_.throttled > before_.throttled) {
      Add(fmt::format("the container's CPU quota stopped its processes {} times meanwhile",
                      after_.throttled - before_.throttled),
          "give the container more (docker update --cpus, resources.limits.cpu)");
    }
    if (after_.overheated > before_.overheated) {
      Add(fmt::format("CPUs were slowed down for heat {} times meanwhile",
                      after_.overheated - before_.overheated),
          "cool the machine, or leave turbo off");
    }
  }

  void Clocks() {
    const std::string governor =
        Text(world_, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (!governor.empty() && governor != "performance") {
      Add(fmt::format("the CPU governor is {}, which changes the clock with the load",
                      Printable(governor)),
          "sudo cpupower frequency-set -g performance");
    }
    if (Text(world_, "/sys/devices/system/cpu/intel_pstate/no_turbo") == "0") {
      Add("turbo is on: the clock depends on heat and on other cores",
          "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo");
    } else if (Text(world_, "/sys/devices/system/cpu/cpufreq/boost") == "1") {
      Add("boost is on: the clock depends on heat and on other cores",
          "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost");
    }
  }

  void Cores(const std::vector<Case>& cases) {
    const auto allowed = static_cast<int>(Number(world_.Machine()["cores"]));
    if (allowed == 0) return;
    int most = 0;
    const Case* widest = nullptr;
    for (const Case& declared : cases) {
      if (declared.argv.empty() || declared.threads <= most) continue;
      most = declared.threads;
      widest = &declared;
    }
    if (widest == nullptr) return;
    if (most > allowed) {
      Add(fmt::format("{} runs {} threads, but only {} may be used", Printable(widest->name), most,
                      Plural(allowed, "core")),
          fmt::format("set 'threads: {}' in {}", allowed, ToString(widest->declared)));
    } else if (most < allowed) {
      Add(fmt::format("processes of {} may move among {} cores", Plural(most, "thread"), allowed),
          fmt::format("taskset -c {} perfgate run ...", Chosen(most)));
    }
    if (Text(world_, "/sys/devices/system/cpu/smt/active") == "1") {
      Add("two hardware threads share a core (SMT), and what runs on the other one is felt",
          "echo off | sudo tee /sys/devices/system/cpu/smt/control");
    }
  }

  void Gpu(const std::vector<AttemptData>& attempts) {
    std::set<std::string> warnings;
    double slowest = 0, fastest = 0;
    bool any = false;
    for (const AttemptData& data : attempts) {
      if (!data.samples) continue;
      const auto& facts = data.samples->environment;
      const auto fact = [&](const char* name) {
        const auto found = facts.find(name);
        return found == facts.end() ? std::string() : found->second;
      };
      any |= fact("device").starts_with("cuda");
      if (!fact("warning").empty()) warnings.insert(fact("warning"));
      const double clock = Number(fact("sm_clock_mhz_after"));
      if (clock <= 0) continue;
      slowest = slowest == 0 ? clock : std::min(slowest, clock);
      fastest = std::max(fastest, clock);
    }
    for (const std::string& warning : warnings) {
      Add(Printable(warning),
          "nvidia-smi shows its processes, clocks and reasons (-q -d CLOCK,"
          "PERFORMANCE)");
    }
    if (fastest > 1.03 * slowest) {
      Add(fmt::format("the GPU's clock went from {:g} to {:g} MHz between attempts", slowest,
                      fastest),
          fmt::format("sudo nvidia-smi -lgc {:g}", slowest));
    }
    if (any) Persistence();
  }

  std::vector<Disturbance> Take() { return std::move(found_); }

 private:
  void Add(std::string found, std::string mend) {
    found_.push_back({std::move(found), std::move(mend)});
  }

  // The first so many of the cores that may be used: "0-1" of "0-7", "2,3" of "2,3,8".
  std::string Chosen(int count) {
    const std::string list =
        ValueInLines(world_.SystemFile("/proc/self/status"), "Cpus_allowed_list", ':');
    std::vector<std::string> cores;
    for (const std::string& range : Split(list, ',')) {
      const size_t dash = range.find('-');
      const int first = static_cast<int>(Number(range));
      const int last =
          dash == std::string::npos ? first : static_cast<int>(Number(range.substr(dash + 1)));
      for (int core = first; core <= last && static_cast<int>(cores.size()) < count; ++core) {
        cores.push_back(fmt::format("{}", core));
      }
    }
    return Join(cores, ",");
  }

  void Persistence() {
    const Response response =
        Ask({"nvidia-smi", "--query-gpu=persistence_mode", "--format=csv,noheader"}, kNvidiaSmiNs,
            world_);
    const bool off = response.result.fault.empty() && Trim(response.text).starts_with("Disabled");
    if (off) {
      Add("the GPU's persistence mode is off: the driver starts it anew for the first process",
          "sudo nvidia-smi -pm 1");
    }
  }

  const SystemReading &before_, &after_;
  World& world_;
  double elapsed_s_ = 0;
  std::vector<Disturbance> found_;
};

}  // namespace

SystemReading ReadSystem(World& world) {
  SystemReading reading;
  reading.at_ns = world.MonotonicNs();
  ReadCpus(world, &reading);
  const ProcessStat self = StatOf(world, "self");
  for (const size_t field : {14, 15, 16, 17}) reading.own_s += self.Seconds(field);
  const std::string own_pid = fmt::format("{}", ::getpid());
  for (const std::string& pid : world.SystemFolder("/proc")) {
    if (pid.find_first_not_of("0123456789") != std::string::npos || pid == own_pid) continue;
    const ProcessStat stat = StatOf(world, pid);
    if (stat.fields.empty()) continue;
    reading.others[static_cast<int>(Number(pid))] = {stat.name,
                                                     stat.Seconds(14) + stat.Seconds(15)};
  }
  for (const std::string& line : Split(world.SystemFile("/sys/fs/cgroup/cpu.stat"), '\n')) {
    const std::vector<std::string> fields = Fields(line);
    if (fields.size() == 2 && fields[0] == "nr_throttled") {
      reading.throttled = static_cast<int64_t>(Number(fields[1]));
    }
  }
  reading.overheated = SumOf(world, "core_throttle_count") + SumOf(world, "package_throttle_count");
  return reading;
}

std::vector<Disturbance> FindDisturbances(const SystemReading& before, const SystemReading& after,
                                          const std::vector<Case>& cases,
                                          const std::vector<AttemptData>& attempts, World& world) {
  Finder finder(before, after, world);
  finder.OtherLoad();
  finder.Hypervisor();
  finder.Limits();
  finder.Clocks();
  finder.Cores(cases);
  finder.Gpu(attempts);
  return finder.Take();
}

}  // namespace perfgate
