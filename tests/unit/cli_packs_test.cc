// The packs on recorded pairs: which of them fail, and by which rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "cli/cli.h"

namespace perfgate {
namespace {

class Desk : public World {
 public:
  std::string UtcNow() override { return "2027-01-31T10:15:00Z"; }
  int64_t MonotonicNs() override { return 0; }
  uint64_t RandomSeed() override { return 41; }
  std::map<std::string, std::string> Machine() override { return {}; }
  AttemptResult RunProcess(const Process&) override { return {}; }
  int Interrupted() override { return 0; }
  std::string Getenv(const std::string&) override { return ""; }
  std::ostream& Out() override { return out_; }
  std::ostream& Err() override { return err_; }
  bool OutIsTerminal() override { return false; }
  bool ErrIsTerminal() override { return false; }
  std::pair<std::string, bool> GitCommit(const std::filesystem::path&) override {
    return {"", false};
  }
  std::ostringstream out_, err_;
};

std::string TraceAt(const std::string& name) {
  return std::string(PERFGATE_TEST_DATA "/") + name + ".json.gz";
}

// A line of verdicts.txt: base, head, exit code, the rules that fail, in alphabetical order.
struct Expected {
  std::string base, head, verdict;
};

std::vector<Expected> AllExpected() {
  std::vector<Expected> all;
  std::istringstream lines(ReadFile(PERFGATE_TEST_DATA "/verdicts.txt"));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Expected expected;
    words >> expected.base >> expected.head;
    std::getline(words >> std::ws, expected.verdict);
    all.push_back(std::move(expected));
  }
  return all;
}

class Pack : public ::testing::TestWithParam<Expected> {};

TEST_P(Pack, FailsForWhatIsARegressionAndForNothingElse) {
  Desk desk;
  const int exit_code = cli::Main(
      {"diff", TraceAt(GetParam().base), TraceAt(GetParam().head), "--format", "json"}, desk);
  std::set<std::string> failed;
  const Json verdict = ParseJson(desk.out_.str(), "verdict");
  for (const Json& finding : verdict.At("cases").AsArray()[0].At("findings").AsArray()) {
    const std::string rule = finding.At("rule").AsString();
    if (finding.At("status").AsString() == "fail") failed.insert(rule.substr(rule.rfind('/') + 1));
  }
  std::string told = std::to_string(exit_code);
  for (const std::string& rule : failed) told += " " + rule;
  EXPECT_EQ(told, GetParam().verdict) << desk.err_.str();
}

INSTANTIATE_TEST_SUITE_P(Recorded, Pack, ::testing::ValuesIn(AllExpected()), [](const auto& pair) {
  std::string name = pair.param.base + "_then_" + pair.param.head;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace perfgate
