// perfgate with a clock of its own: waiting takes no time, is written to standard error, and moves
// the clock. PERFGATE_TEST_SIGNAL=15: the first wait is interrupted by that signal.
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace perfgate {
namespace {

class WorldWithoutWaiting : public World {
 public:
  std::string UtcNow() override {
    const std::time_t now = kStart_s + slept_ns_ / 1'000'000'000;
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
  }
  int64_t MonotonicNs() override { return slept_ns_; }
  uint64_t RandomSeed() override { return 250; }
  std::map<std::string, std::string> Machine() override { return {{"cpu_isa", "avx2"}}; }
  AttemptResult RunProcess(const Process&) override { return {}; }
  int Interrupted() override { return signal_; }
  void SleepFor(int64_t ns) override {
    std::cerr << "slept " << ns / 1'000'000 << " ms\n";
    slept_ns_ += ns;
    if (const std::string signal = Getenv("PERFGATE_TEST_SIGNAL"); !signal.empty()) {
      signal_ = std::stoi(signal);
    }
  }
  std::string Getenv(const std::string& name) override {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
  }
  std::ostream& Out() override { return std::cout; }
  std::ostream& Err() override { return std::cerr; }
  bool OutIsTerminal() override { return false; }
  bool ErrIsTerminal() override { return false; }
  std::pair<std::string, bool> GitCommit(const std::filesystem::path&) override {
    return {"0123456789abcdef", false};
  }

 private:
  static constexpr std::time_t kStart_s = 1'801'390'500;  // 2027-01-31T10:15:00Z
  int64_t slept_ns_ = 0;
  int signal_ = 0;
};

}  // namespace
}  // namespace perfgate

int main(int argc, char** argv) {
  perfgate::WorldWithoutWaiting world;
  return perfgate::cli::Main(std::vector<std::string>(argv + 1, argv + argc), world);
}
