#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "declare_files.h"

namespace perfgate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class HostileFile : public DeclaredFiles {};

std::string Repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST_F(HostileFile, AMissingFileSaysWhatToDo) {
  try {
    LoadSuite(folder_ / "absent.yaml");
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kConfig);
    EXPECT_EQ(WithoutFolder(error.what()),
              "absent.yaml: no such file; name your suite's file or folder, or write a first one "
              "by `perfgate schema suite`");
  }
}

TEST_F(HostileFile, ADirectoryIsNoFile) {
  try {
    LoadSuite(folder_ / "rules");
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(WithoutFolder(error.what()), "rules: is a directory, not a file");
  }
}

TEST_F(HostileFile, APipeIsNotWaitedFor) {
  const std::filesystem::path pipe = folder_ / "rules" / "pipe.yaml";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  try {
    LoadRules({"rules/pipe.yaml"}, folder_);
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(WithoutFolder(error.what()), "rules/pipe.yaml: is a pipe or a device, not a file");
  }
}

TEST_F(HostileFile, AnEmptyFileIsSaidToBeEmpty) {
  EXPECT_EQ(SuiteMistakes(""), "perfgate.yaml: the file is empty");
  EXPECT_EQ(SuiteMistakes("# only a comment\n"), "perfgate.yaml: the file is empty");
}

TEST_F(HostileFile, WhatIsNotYamlIsSaidWithItsPosition) {
  EXPECT_EQ(SuiteMistakes("version: 1\nworkloads: [\n"),
            "perfgate.yaml:3:1: not YAML: end of sequence flow not found");
  EXPECT_THAT(SuiteMistakes("version: 1\n\tsuite: x\n"), StartsWith("perfgate.yaml:2:"));
}

TEST_F(HostileFile, SeveralDocumentsAreRefused) {
  EXPECT_EQ(SuiteMistakes("version: 1\n---\nversion: 1\n"),
            "perfgate.yaml:2:1: more than one document in the file; write one, without '---' in "
            "between");
}

// yaml-cpp takes what it cannot place for documents without end.
TEST_F(HostileFile, WhatBelongsNowhereIsRefused) {
  for (const char* text : {",version: 1\n", ", version: 1\nworkloads: []\n"}) {
    EXPECT_EQ(SuiteMistakes(text),
              "perfgate.yaml:1:1: not YAML: this does not belong to what stands above")
        << text;
  }
  EXPECT_EQ(SuiteMistakes("- a\nb\n"),
            "perfgate.yaml:2:1: not YAML: this does not belong to what stands above");
}

TEST_F(HostileFile, BytesThatAreNoTextAreRefused) {
  EXPECT_EQ(SuiteMistakes(std::string("version: 1\nsuite: a\0b\n", 21)),
            "perfgate.yaml:2:9: byte 0x00 is no text; the file must be UTF-8 without control "
            "characters");
  EXPECT_THAT(SuiteMistakes("version: 1\nsuite: \xff\n"), HasSubstr("2:8: byte 0xff is no text"));
}

TEST_F(HostileFile, ALargeFileIsRefused) {
  EXPECT_EQ(SuiteMistakes("version: 1\n#" + std::string(2 << 20, 'x')),
            "perfgate.yaml: is larger than 1 MiB, the most that is read");
}

TEST_F(HostileFile, DeepNestingIsRefused) {
  EXPECT_THAT(SuiteMistakes(std::string(100'000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(SuiteMistakes(Repeated("{a: ", 100'000)), HasSubstr("nested too deeply"));
  EXPECT_THAT(SuiteMistakes(Repeated("- ", 100'000)), HasSubstr("nested too deeply"));
  EXPECT_THAT(SuiteMistakes("version: " + std::string(100, '[') + std::string(100, ']')),
              HasSubstr("nested more than 64 levels deep"));
}

TEST_F(HostileFile, AliasesThatMultiplyAreRefused) {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 1; j < 10; ++j) text += "," + last;
    text += "]\n";
  }
  EXPECT_THAT(SuiteMistakes(text), HasSubstr("too much YAML: with its aliases written out"));
}

TEST_F(HostileFile, LongTextsThatMultiplyAreRefused) {
  std::string text = "a: &a " + std::string(500'000, 'x') + "\nb: [";
  text += Repeated("*a,", 1000) + "]\n";
  EXPECT_THAT(SuiteMistakes(text), HasSubstr("too much YAML"));
}

TEST_F(HostileFile, AnAliasOfItselfIsRefused) {
  EXPECT_THAT(SuiteMistakes("a: &a [*a]\n"), HasSubstr("nested more than 64 levels deep"));
}

TEST_F(HostileFile, AMatrixCannotMultiplyALongCommand) {
  std::string values = "0";
  for (int i = 1; i < 10'000; ++i) values += "," + std::to_string(i);
  EXPECT_THAT(
      SuiteMistakes(
          "version: 1\nrules: [perfgate:x]\nworkloads:\n  - name: a\n    command: [./a, '{b}', " +
          std::string(500'000, 'x') + "]\n    matrix: {b: [" + values + "]}\n"),
      HasSubstr("workloads[0]: its text times the cases of its matrix is more than 64 MiB"));
}

TEST_F(HostileFile, ThousandsOfRulesAreRefused) {
  std::string text = "version: 1\nrules:\n";
  for (int i = 0; i < 2001; ++i) {
    text += "  - {id: a" + std::to_string(i) + ", metric: kernels, limit: {at_most: 1}}\n";
  }
  EXPECT_EQ(RuleMistakes(text), "rules/mine.yaml:2003:5: rules[2000]: more than 2000 rules");
}

TEST_F(HostileFile, ALongGlobIsRefused) {
  EXPECT_THAT(RuleMistakes("version: 1\nrules:\n  - {id: a, metric: kernels, limit: {at_most: 1}, "
                           "cases: '" +
                           std::string(5000, '*') + "'}\n"),
              HasSubstr("rules[0].cases: is longer than 4096 bytes"));
}

TEST_F(HostileFile, ThousandsOfMistakesAreCutShort) {
  std::string text = "version: 1\n";
  for (int i = 0; i < 50'000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const std::string said = SuiteMistakes(text);
  EXPECT_LT(said.size(), 100'000u);
  EXPECT_THAT(said, HasSubstr("\nand 9800 more"));
}

TEST_F(HostileFile, AKeyCannotForgeALineOfOutput) {
  const std::string said =
      SuiteMistakes("version: 1\n\"a\\n::error::x\\e[31m\": 1\nworkloads: [1]\n");
  EXPECT_THAT(said, HasSubstr("unknown key 'a\\x0a::error::x\\x1b[31m'"));
}

}  // namespace
}  // namespace perfgate
