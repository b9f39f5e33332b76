#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/options.h"

namespace perfgate::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
T Parsed(const std::vector<std::string>& args) {
  return std::get<T>(std::get<Command>(ParseArguments(args)));
}

std::string Mistake(const std::vector<std::string>& args) {
  try {
    ParseArguments(args);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kUsage);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(Options, RunTakesAllItsFlags) {
  const auto args = Parsed<RunArgs>(
      {"run",    "--case",   "geglu[*",     "--case=linear*", "bench.yaml", "--device",
       "cuda:1", "--report", "json=v.json", "--report",       "md=c=1.md",  "--format",
       "md",     "--quick",  "--plant",     "a[b=1]=clone",   "--seed",     "7",
       "--db",   "x.db",     "-v"});
  EXPECT_EQ(args.suite.suite, "bench.yaml");
  EXPECT_THAT(args.suite.cases, ElementsAre("geglu[*", "linear*"));
  EXPECT_EQ(args.device, "cuda:1");
  ASSERT_EQ(args.output.reports.size(), 2U);
  EXPECT_EQ(args.output.reports[1].file, "c=1.md");
  EXPECT_EQ(args.output.format, Format::kMarkdown);
  EXPECT_TRUE(args.quick);
  EXPECT_TRUE(args.output.verbose);
  EXPECT_THAT(args.plants, ElementsAre("a[b=1]=clone"));
  EXPECT_EQ(args.seed, 7U);
  EXPECT_EQ(args.suite.database, "x.db");
}

TEST(Options, DefaultsAreTheSuiteOfTheFolder) {
  const auto args = Parsed<RunArgs>({"run"});
  EXPECT_EQ(args.suite.suite, "perfgate.yaml");
  EXPECT_EQ(args.output.format, Format::kText);
  EXPECT_FALSE(args.seed.has_value());
}

TEST(Options, ARepeatableFlagDoesNotEatThePositionals) {
  const auto args = Parsed<DiffArgs>({"diff", "--rules", "perfgate:fusion", "a.json", "b.json"});
  EXPECT_THAT(args.rules, ElementsAre("perfgate:fusion"));
  EXPECT_EQ(args.base, "a.json");
  EXPECT_EQ(args.head, "b.json");
}

TEST(Options, AMistypedWordIsSaidWithTheNearestOne) {
  EXPECT_THAT(Mistake({"dif", "a", "b"}), HasSubstr("unknown command `dif`: did you mean `diff`?"));
  EXPECT_THAT(Mistake({"baseline", "acept"}),
              HasSubstr("unknown command `baseline acept`: did you mean `accept`?"));
  EXPECT_THAT(Mistake({"run", "--basline", "x"}),
              AllOf(HasSubstr("unknown flag `--basline`: did you mean `--baselines`?"),
                    HasSubstr("perfgate run --help")));
  EXPECT_THAT(Mistake({"diff", "a", "b", "--format", "jsn"}), HasSubstr("did you mean `json`?"));
}

TEST(Options, WhatIsMissingIsSaid) {
  EXPECT_THAT(Mistake({}),
              AllOf(HasSubstr("a command is needed: run, judge"), HasSubstr("perfgate --help")));
  EXPECT_THAT(Mistake({"baseline"}), HasSubstr("accept, show, diff, verify"));
  EXPECT_THAT(Mistake({"diff", "a.json"}), HasSubstr("head"));
  EXPECT_THAT(Mistake({"baseline", "accept"}), HasSubstr("--reason"));
  EXPECT_THAT(Mistake({"run", "--report", "verdict.json"}), HasSubstr("it takes FORMAT=FILE"));
  EXPECT_THAT(Mistake({"run", "a.yaml", "b.yaml"}), HasSubstr("unexpected argument `b.yaml`"));
}

TEST(Options, HelpHasExamplesForEveryCommand) {
  const std::vector<std::vector<std::string>> commands = {{},
                                                          {"run"},
                                                          {"judge"},
                                                          {"inspect"},
                                                          {"diff"},
                                                          {"baseline"},
                                                          {"baseline", "accept"},
                                                          {"baseline", "show"},
                                                          {"baseline", "diff"},
                                                          {"baseline", "verify"},
                                                          {"ingest"},
                                                          {"history"},
                                                          {"comment"},
                                                          {"rules"},
                                                          {"rules", "list"},
                                                          {"rules", "check"},
                                                          {"schema"}};
  for (std::vector<std::string> command : commands) {
    command.push_back("--help");
    const std::string text = std::get<Information>(ParseArguments(command)).text;
    EXPECT_THAT(text, AllOf(HasSubstr("Examples:"), HasSubstr("perfgate "))) << command.front();
  }
}

TEST(Options, VersionNamesTheLibraries) {
  EXPECT_THAT(std::get<Information>(ParseArguments({"--version"})).text,
              AllOf(HasSubstr("perfgate 0."), HasSubstr("SQLite 3."), HasSubstr("CLI11 2.")));
}

}  // namespace
}  // namespace perfgate::cli
