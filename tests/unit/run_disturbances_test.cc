// What makes times vary, read from a machine that the test makes up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "run/run.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

class MadeUpMachine : public World {
 public:
  std::string UtcNow() override { return "2027-01-31T10:15:00Z"; }
  int64_t MonotonicNs() override { return now_ns; }
  uint64_t RandomSeed() override { return 1; }
  std::map<std::string, std::string> Machine() override { return {{"cores", "4"}}; }
  AttemptResult RunProcess(const Process&) override {
    AttemptResult result;
    result.fault = "program not found";
    return result;
  }
  int Interrupted() override { return 0; }
  std::string Getenv(const std::string&) override { return ""; }
  std::string SystemFile(const std::string& path) override {
    const auto found = files.find(path);
    return found == files.end() ? "" : found->second;
  }
  std::vector<std::string> SystemFolder(const std::string& path) override {
    std::set<std::string> names;
    for (const auto& [file, text] : files) {
      if (!file.starts_with(path + "/")) continue;
      const std::string rest = file.substr(path.size() + 1);
      names.insert(rest.substr(0, rest.find('/')));
    }
    return {names.begin(), names.end()};
  }
  std::ostream& Out() override { return stream; }
  std::ostream& Err() override { return stream; }
  bool OutIsTerminal() override { return false; }
  bool ErrIsTerminal() override { return false; }
  std::pair<std::string, bool> GitCommit(const std::filesystem::path&) override { return {}; }

  // Ticks of 10 ms, of four CPUs.
  void SetCpus(int64_t user, int64_t stolen) {
    files["/proc/stat"] = "cpu  " + std::to_string(user) + " 0 0 1000 0 0 0 " +
                          std::to_string(stolen) + " 0 0\ncpu0 0\ncpu1 0\ncpu2 0\ncpu3 0\nintr 1\n";
  }
  void SetProcess(const std::string& pid, const std::string& name, int64_t user,
                  int64_t children = 0) {
    files["/proc/" + pid + "/stat"] = pid + " (" + name + ") S 1 1 1 0 -1 0 0 0 0 0 " +
                                      std::to_string(user) + " 0 " + std::to_string(children) +
                                      " 0 20 0 1";
  }

  int64_t now_ns = 0;
  std::map<std::string, std::string> files;
  std::ostringstream stream;
};

Case WithThreads(int threads) {
  Case declared;
  declared.name = "gelu";
  declared.argv = {"bench"};
  declared.threads = threads;
  declared.declared = {"perfgate.yaml", 4, 5};
  return declared;
}

std::vector<Disturbance> Found(const SystemReading& before, MadeUpMachine& machine, int threads = 4,
                               const std::vector<AttemptData>& attempts = {}) {
  machine.now_ns += 10'000'000'000;
  const SystemReading after = ReadSystem(machine);
  return FindDisturbances(before, after, {WithThreads(threads)}, attempts, machine);
}

TEST(Disturbances, OfAMachineThatSaysNothingAreNone) {
  MadeUpMachine machine;
  EXPECT_THAT(Found(ReadSystem(machine), machine), IsEmpty());
}

TEST(Disturbances, NameOtherProcessesAndNotWhatPerfgateItselfRan) {
  MadeUpMachine machine;
  machine.SetCpus(0, 0);
  machine.SetProcess("self", "perfgate", 0, 0);
  machine.SetProcess("77", "a (strange) name", 100);
  machine.SetProcess("78", "idle", 5);
  const SystemReading before = ReadSystem(machine);
  // In 10 s: 20 s of CPUs, of which 8 s are perfgate's children and 9 s process 77.
  machine.SetCpus(2000, 0);
  machine.SetProcess("self", "perfgate", 0, 800);
  machine.SetProcess("77", "a (strange) name", 1000);
  const std::vector<Disturbance> found = Found(before, machine);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].found,
            "other processes kept 1.2 of 4 CPUs busy meanwhile: a (strange) name (pid 77) 90 %");
}

TEST(Disturbances, OfPerfgatesOwnChildrenAreNone) {
  MadeUpMachine machine;
  machine.SetCpus(0, 0);
  machine.SetProcess("self", "perfgate", 0, 0);
  const SystemReading before = ReadSystem(machine);
  machine.SetCpus(810, 0);
  machine.SetProcess("self", "perfgate", 0, 800);
  EXPECT_THAT(Found(before, machine), IsEmpty());
}

TEST(Disturbances, TellOfStolenTimeQuotaAndHeat) {
  MadeUpMachine machine;
  machine.SetCpus(0, 0);
  machine.files["/sys/fs/cgroup/cpu.stat"] = "nr_periods 5\nnr_throttled 2\n";
  machine.files["/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count"] = "7\n";
  const SystemReading before = ReadSystem(machine);
  machine.SetCpus(0, 200);
  machine.files["/sys/fs/cgroup/cpu.stat"] = "nr_periods 50\nnr_throttled 12\n";
  machine.files["/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count"] = "9\n";
  const std::vector<Disturbance> found = Found(before, machine);
  EXPECT_THAT(found, Contains(Field(&Disturbance::found, HasSubstr("gave 0.2 of 4 CPUs"))));
  EXPECT_THAT(found,
              Contains(Field(&Disturbance::found, HasSubstr("quota stopped its processes 10"))));
  EXPECT_THAT(found, Contains(Field(&Disturbance::found, HasSubstr("for heat 2 times"))));
}

TEST(Disturbances, TellOfClocksThatMoveWithTheCommandThatHoldsThem) {
  MadeUpMachine machine;
  const std::string cpus = "/sys/devices/system/cpu/";
  machine.files[cpus + "cpu0/cpufreq/scaling_governor"] = "powersave\n";
  machine.files[cpus + "intel_pstate/no_turbo"] = "0\n";
  machine.files[cpus + "smt/active"] = "1\n";
  const std::vector<Disturbance> found = Found(ReadSystem(machine), machine);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].mend, "sudo cpupower frequency-set -g performance");
  EXPECT_EQ(found[1].mend, "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo");
  EXPECT_EQ(found[2].mend, "echo off | sudo tee /sys/devices/system/cpu/smt/control");
}

TEST(Disturbances, AreNoneOfAMachineWhoseClocksAreHeld) {
  MadeUpMachine machine;
  const std::string cpus = "/sys/devices/system/cpu/";
  machine.files[cpus + "cpu0/cpufreq/scaling_governor"] = "performance\n";
  machine.files[cpus + "intel_pstate/no_turbo"] = "1\n";
  machine.files[cpus + "smt/active"] = "0\n";
  EXPECT_THAT(Found(ReadSystem(machine), machine), IsEmpty());
}

TEST(Disturbances, AdvisePinningWhereThreadsMayMoveAndFewerThreadsWhereTheyAreTooMany) {
  MadeUpMachine machine;
  machine.files["/proc/self/status"] = "Name:\tperfgate\nCpus_allowed_list:\t2,4-6\n";
  const std::vector<Disturbance> moving = Found(ReadSystem(machine), machine, 2);
  ASSERT_EQ(moving.size(), 1u);
  EXPECT_EQ(moving[0].mend, "taskset -c 2,4 perfgate run ...");
  const std::vector<Disturbance> crowded = Found(ReadSystem(machine), machine, 8);
  ASSERT_EQ(crowded.size(), 1u);
  EXPECT_EQ(crowded[0].found, "gelu runs 8 threads, but only 4 cores may be used");
  EXPECT_EQ(crowded[0].mend, "set 'threads: 4' in perfgate.yaml:4:5");
}

TEST(Disturbances, OfTheGpuAreWhatTheAttemptsRecorded) {
  MadeUpMachine machine;
  AttemptData slow, fast;
  slow.samples.emplace().environment = {{"device", "cuda"}, {"sm_clock_mhz_after", "1200"}};
  fast.samples.emplace().environment = {{"device", "cuda"},
                                        {"sm_clock_mhz_after", "1980"},
                                        {"warning", "the GPU slowed down: hw_slowdown"}};
  const std::vector<Disturbance> found = Found(ReadSystem(machine), machine, 4, {slow, fast});
  EXPECT_THAT(found, Contains(Field(&Disturbance::found, "the GPU slowed down: hw_slowdown")));
  EXPECT_THAT(found, Contains(Field(&Disturbance::mend, "sudo nvidia-smi -lgc 1200")));
}

}  // namespace
}  // namespace perfgate
