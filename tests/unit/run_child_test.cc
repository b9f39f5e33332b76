#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/file.h"
#include "run/child.h"
#include "run/program.h"
#include "run/run.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kSecond = 1'000'000'000;

class ChildProcess : public TempFolder {
 protected:
  void SetUp() override {
    process_.cwd = folder_;
    process_.timeout_ns = 60 * kSecond;
  }

  ChildEnd Shell(const std::string& script) {
    process_.argv = {"sh", "-c", script};
    return Run();
  }
  ChildEnd Run() {
    return RunChild(process_, -1, [] { return 0; });
  }
  void Put(const std::string& name, const std::string& text, mode_t mode) {
    std::ofstream(folder_ / name) << text;
    ::chmod((folder_ / name).c_str(), mode);
  }
  // The number that a script left in a file, once it is there.
  pid_t PidIn(const std::string& name) { return std::stoi(ReadFile(folder_ / name)); }

  Process process_;
};

bool IsAlive(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST_F(ChildProcess, ItsExitCodeStreamsTimeAndMemoryAreTaken) {
  const ChildEnd end = Shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(end.result.outcome, Outcome::kExited);
  EXPECT_EQ(end.result.exit_code, 3);
  EXPECT_EQ(end.result.fault, "exit code 3");
  EXPECT_EQ(end.stdout_text, "out\n");
  EXPECT_EQ(end.stderr_text, "err\n");
  EXPECT_EQ(end.result.stderr_tail, "err\n");
  EXPECT_GT(end.result.wall_ns, 0);
  EXPECT_GT(end.result.peak_rss_bytes, 100'000);
}

TEST_F(ChildProcess, ASuccessHasNoFault) { EXPECT_EQ(Shell("true").result.fault, ""); }

TEST_F(ChildProcess, ASignalIsNamed) {
  const ChildEnd end = Shell("kill -SEGV $$");
  EXPECT_EQ(end.result.outcome, Outcome::kSignalled);
  EXPECT_EQ(end.result.signal, SIGSEGV);
  EXPECT_EQ(end.result.fault, "killed by SIGSEGV");
  EXPECT_EQ(Shell("kill -KILL $$").result.fault,
            "killed by SIGKILL (by the system, if memory ran out)");
}

TEST_F(ChildProcess, GetsItsEnvironmentItsFolderAndNoInput) {
  ::setenv("RUN_CHILD_TEST", "parent", 1);
  ::setenv("RUN_CHILD_KEPT", "kept", 1);
  process_.environment = {{"RUN_CHILD_TEST", "a b=c"}};
  const ChildEnd end = Shell("cat; echo $RUN_CHILD_TEST,$RUN_CHILD_KEPT; pwd -P");
  EXPECT_EQ(end.stdout_text, "a b=c,kept\n" + std::filesystem::canonical(folder_).string() + "\n");
}

TEST_F(ChildProcess, AFloodKeepsTheEndOnly) {
  const ChildEnd end =
      Shell("yes 0123456789 | head -c 30000000; echo last; yes e | head -c 9000 >&2");
  EXPECT_LT(end.stdout_text.size(), 70'000U);
  EXPECT_THAT(end.stdout_text, AllOf(StartsWith("[perfgate: 29934"),
                                     HasSubstr("bytes before this were not kept]\n")));
  EXPECT_TRUE(end.stdout_text.ends_with("last\n"));
  EXPECT_EQ(end.result.stderr_tail.size(), 4096U - 2);  // from the start of a line
}

TEST_F(ChildProcess, ATimeOutEndsItAndWhatItStarted) {
  process_.timeout_ns = kSecond / 2;
  const ChildEnd end = Shell(
      "echo started >&2; sh -c 'echo $$ > grandchild; trap \"\" TERM; sleep 600; sleep 600' & "
      "wait");
  EXPECT_EQ(end.result.outcome, Outcome::kTimedOut);
  EXPECT_EQ(end.result.fault, "timed out after 500 ms");
  EXPECT_EQ(end.result.stderr_tail, "started\n");
  EXPECT_FALSE(IsAlive(PidIn("grandchild")));
}

TEST_F(ChildProcess, ATimeOutIsAskedForBeforeItIsForced) {
  process_.timeout_ns = kSecond / 2;
  const ChildEnd end = Shell("trap 'echo tidied; exit 0' TERM; sleep 600 & wait");
  EXPECT_EQ(end.result.outcome, Outcome::kTimedOut);
  EXPECT_EQ(end.stdout_text, "tidied\n");
}

TEST_F(ChildProcess, OneThatDoesNotListenIsKilled) {
  process_.timeout_ns = kSecond / 10;
  const ChildEnd end = Shell("trap '' TERM; echo $$ > pid; while :; do sleep 600; done");
  EXPECT_EQ(end.result.outcome, Outcome::kTimedOut);
  EXPECT_FALSE(IsAlive(PidIn("pid")));
}

TEST_F(ChildProcess, WhatIsLeftBehindDoesNotHangNorStay) {
  // One keeps the pipe open in the group, one went into a session of its own.
  const ChildEnd end = Shell(
      "sh -c 'echo $$ > a; sleep 600' & setsid sh -c 'echo $$ > b; sleep 600; true' & "
      "while [ ! -s a ] || [ ! -s b ]; do sleep 0.01; done; echo done");
  EXPECT_EQ(end.result.fault, "");
  EXPECT_EQ(end.stdout_text, "done\n");
  EXPECT_FALSE(IsAlive(PidIn("a")));
  EXPECT_FALSE(IsAlive(PidIn("b")));
}

TEST_F(ChildProcess, AnInterruptEndsIt) {
  int wake[2];
  ASSERT_EQ(::pipe(wake), 0);
  process_.argv = {"sh", "-c", "echo $$ > pid; sleep 600"};
  std::thread waker([&] {
    while (!std::filesystem::exists(folder_ / "pid")) std::this_thread::yield();
    EXPECT_EQ(::write(wake[1], "", 1), 1);
  });
  const ChildEnd end = RunChild(process_, wake[0], [] { return SIGINT; });
  waker.join();
  EXPECT_EQ(end.result.outcome, Outcome::kInterrupted);
  EXPECT_EQ(end.result.fault, "interrupted");
  EXPECT_FALSE(IsAlive(PidIn("pid")));
  ::close(wake[0]);
  ::close(wake[1]);
}

TEST_F(ChildProcess, DiesWhenPerfgateIsKilled) {
  const pid_t perfgate = ::fork();
  if (perfgate == 0) {
    Shell("echo $$ > pid; setsid sh -c 'echo $$ > b; sleep 600; true' & sleep 600; true");
    ::_exit(0);
  }
  while (!std::filesystem::exists(folder_ / "pid") || !std::filesystem::exists(folder_ / "b") ||
         std::filesystem::file_size(folder_ / "b") == 0) {
    std::this_thread::yield();
  }
  const pid_t child = PidIn("pid"), orphan = PidIn("b");
  ::kill(perfgate, SIGKILL);
  ::waitpid(perfgate, nullptr, 0);
  for (int i = 0; i < 1000 && (IsAlive(child) || IsAlive(orphan)); ++i) ::usleep(10'000);
  EXPECT_FALSE(IsAlive(child));
  EXPECT_FALSE(IsAlive(orphan));
}

TEST_F(ChildProcess, WhatCannotBeStartedSaysWhy) {
  const auto fault = [this](std::vector<std::string> argv) {
    process_.argv = std::move(argv);
    const ChildEnd end = Run();
    EXPECT_EQ(end.result.outcome, Outcome::kNotStarted);
    return end.result.fault;
  };
  Put("plain", "#!/bin/sh\n", 0644);
  Put("orphaned", "#!/no/such/interpreter -x\n", 0755);
  Put("binary", std::string("\x7f") + "ELFjunk", 0755);
  EXPECT_EQ(fault({"no-such-program-x"}), "program not found: no-such-program-x (not on PATH)");
  EXPECT_EQ(fault({"bench/decode.py"}), "program not found: bench/decode.py");
  EXPECT_EQ(fault({"plain"}), "program not found: plain (not on PATH; did you mean ./plain?)");
  EXPECT_EQ(fault({"./plain"}), "not executable: ./plain (chmod +x ./plain)");
  EXPECT_EQ(fault({"/tmp"}), "not a program: /tmp");
  EXPECT_THAT(fault({"./orphaned"}), AllOf(StartsWith("bad interpreter: "),
                                           HasSubstr("asks for /no/such/interpreter, which is")));
  EXPECT_THAT(fault({"./binary"}), StartsWith("not a program of this machine: "));
  EXPECT_EQ(fault({}), "program not found: the command is empty");
  EXPECT_THAT(fault({"sh", "-c", std::string(4 << 20, 'x')}), HasSubstr("Argument list too long"));
  process_.cwd = folder_ / "none";
  EXPECT_THAT(fault({"true"}), AllOf(StartsWith("folder not found: "), HasSubstr("/none")));
}

TEST_F(ChildProcess, APathOfItsOwnEnvironmentIsSearched) {
  std::filesystem::create_directory(folder_ / "bin");
  Put("bin/tool", "#!/bin/sh\necho found $1\n", 0755);
  process_.environment = {{"PATH", "bin:/usr/bin:/bin"}};
  process_.argv = {"tool", "it"};
  EXPECT_EQ(Run().stdout_text, "found it\n");
}

TEST_F(ChildProcess, TheRealWorldWritesItsStreamsToFiles) {
  process_.argv = {"sh", "-c", "echo out; echo err >&2"};
  process_.stdout_file = folder_ / "stdout.txt";
  process_.stderr_file = folder_ / "stderr.txt";
  EXPECT_EQ(RealWorld().RunProcess(process_).fault, "");
  EXPECT_EQ(ReadFile(folder_ / "stdout.txt"), "out\n");
  EXPECT_EQ(ReadFile(folder_ / "stderr.txt"), "err\n");
}

TEST_F(ChildProcess, TheCommitOfAFolderAndItsChangesAreKnown) {
  EXPECT_EQ(RealWorld().GitCommit(folder_ / "none").first, "");
  Shell(
      "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && "
      "echo 1 > f && git add f && git -c user.name=a -c user.email=a@b commit -q -m y");
  const auto [commit, dirty] = RealWorld().GitCommit(folder_);
  EXPECT_EQ(commit.size(), 40U);
  EXPECT_FALSE(dirty);
  Shell("echo 2 > f; echo 3 > untracked");
  EXPECT_TRUE(RealWorld().GitCommit(folder_).second);
}

TEST(RealWorldMachine, SaysWhatItRunsOn) {
  const std::map<std::string, std::string> machine = RealWorld().Machine();
  for (const char* name : {"cpu", "cpu_isa", "cores", "os", "kernel", "host"}) {
    EXPECT_TRUE(machine.contains(name)) << name;
  }
  EXPECT_THAT(RealWorld().UtcNow(), testing::MatchesRegex("20..-..-..T..:..:..Z"));
}

}  // namespace
}  // namespace perfgate
