// Pairs of traces around one known change (tests/data/pairs): what a reader of the diff is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <sstream>

#include "base/file.h"
#include "base/text.h"
#include "diff_rows.h"

namespace perfgate {
namespace {

const std::filesystem::path kPairs = PERFGATE_TEST_DATA "/pairs";

Evidence Recorded(const std::string& pair, const std::string& side) {
  return ExtractTrace(kPairs / (pair + "." + side + ".json.gz"));
}

// told.txt: the name of a pair on a line of its own, then its changes, indented.
std::map<std::string, std::string> Golden() {
  std::map<std::string, std::string> golden;
  std::istringstream lines(ReadFile(kPairs / "told.txt"));
  std::string line, pair;
  while (std::getline(lines, line)) {
    if (line.starts_with("  ")) {
      golden[pair] += line + "\n";
    } else if (!line.empty() && line[0] != '#') {
      golden[pair = line] = "";
    }
  }
  return golden;
}

std::string Told(const Diff& diff) {
  std::string told;
  for (const Change& change : diff.changes) {
    std::string kinds(ToString(change.kind));
    for (const ChangeKind also : change.also) kinds += ", " + std::string(ToString(also));
    told += "  " + kinds + (change.count < 0 ? " " : " +") + std::to_string(change.count) + ": " +
            change.text + "\n";
  }
  return told;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(kPairs)) {
    const std::string name = file.path().filename().string();
    const size_t end = name.find(".base.json.gz");
    if (end != std::string::npos) names.push_back(name.substr(0, end));
  }
  std::sort(names.begin(), names.end());
  return names;
}

class RecordedPair : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedPair, IsToldInWordsThatNameTheChange) {
  const Diff diff = Compare(Recorded(GetParam(), "base"), Recorded(GetParam(), "head"));
  EXPECT_EQ(Told(diff), Golden().at(GetParam()));
  EXPECT_TRUE(Closes(diff));
}

// The rows of a stored side stand in another order than those of a trace.
TEST_P(RecordedPair, IsToldTheSameInWhateverOrderTheRowsStand) {
  Evidence base = Recorded(GetParam(), "base"), head = Recorded(GetParam(), "head");
  const std::string told = Told(Compare(base, head));
  std::mt19937 order(2026);
  for (int i = 0; i < 5; ++i) {
    for (Evidence* side : {&base, &head}) {
      std::shuffle(side->kernels.begin(), side->kernels.end(), order);
      std::shuffle(side->transfers.begin(), side->transfers.end(), order);
      std::shuffle(side->syncs.begin(), side->syncs.end(), order);
    }
    ASSERT_EQ(Told(Compare(base, head)), told);
  }
}

TEST_P(RecordedPair, HasNoChangeInASecondRecordingOfItsBase) {
  const Diff diff = Compare(Recorded(GetParam(), "base"), Recorded(GetParam(), "again"));
  EXPECT_EQ(Told(diff), "");
  EXPECT_EQ(diff.kernel_count, 0);
  EXPECT_EQ(diff.different_shapes, "");
}

INSTANTIATE_TEST_SUITE_P(OnAnH200, RecordedPair, ::testing::ValuesIn(Names()),
                         [](const auto& pair) { return pair.param; });

}  // namespace
}  // namespace perfgate
