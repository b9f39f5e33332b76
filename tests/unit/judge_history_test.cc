// `history` rules on the stored sessions of a branch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge_cases.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using enum MetricId;

constexpr double kPastNs = 100'000;

Evidence Timed(double ns) {
  Evidence evidence = SomeEvidence();
  evidence.key.fields = {{"gpu", "NVIDIA H200"}, {"torch", "2.11.0"}};
  evidence.key.recorded = {{"gpu_uuid", "GPU-1"}, {"driver", "580"}, {"cpu", "Xeon"}};
  evidence.values = {{kLatencyP50, Side::kHead, 0, 0, {ns}}};
  return evidence;
}

PastSession Session(int number, double ns) {
  PastSession session;
  session.run = "run-" + std::to_string(number);
  session.commit = std::to_string(1'000'000 + number) + "abcdef";
  session.branch = "main";
  session.evidence = Timed(ns);
  return session;
}

// `count` sessions that vary by some tenths of a percent about 100 us.
CasePair WithHistory(int count, double head_ns, std::optional<double> second_ns = {}) {
  CasePair pair = SomePair();
  pair.head = Timed(head_ns);
  for (int i = 0; i < count; ++i)
    pair.past.push_back(Session(i, kPastNs * (1 + 0.001 * (i % 5 - 2))));
  if (second_ns) {
    pair.rounds = {{pair.declared.name, 1, 1, 1}};
    pair.head.values.push_back({kLatencyP50, Side::kHead, 1, 1, {*second_ns}});
  }
  return pair;
}

Rule History(HistoryCheck check = {.tolerance = 0.05}) {
  return SomeRule(std::move(check), {kLatencyP50});
}

TEST(History, PassesWhatIsWithinTheToleranceAndSaysWhatItCouldSee) {
  const Finding finding = FindingOf(History(), WithHistory(20, 101'000));
  EXPECT_EQ(finding.status, Status::kPass);
  EXPECT_EQ(finding.message,
            "latency.p50 is 1.0 % above the median of 20 sessions of main; it fails from 5.0 % on "
            "(100 us -> 101 us, a session varies by 0.1 %)");
  EXPECT_EQ(finding.base, kPastNs);
  EXPECT_EQ(finding.head, 101'000);
}

TEST(History, WantsASecondSessionOfWhatIsSlowerAndIsInconclusiveWithoutIt) {
  const Finding finding = FindingOf(History(), WithHistory(20, 110'000));
  EXPECT_EQ(finding.status, Status::kInconclusive);
  EXPECT_TRUE(finding.past->wants_session);
  EXPECT_THAT(
      finding.message,
      HasSubstr("a second session of fresh processes, which would confirm it, was not run"));
}

TEST(History, FailsWhatASecondSessionConfirmsAndSaysBehindWhichCommitItCame) {
  const Finding finding = FindingOf(History(), WithHistory(20, 110'000, 109'000));
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_FALSE(finding.past->wants_session);
  EXPECT_EQ(finding.message,
            "latency.p50 is 10.0 % above the median of 20 sessions of main, and 9.0 % above it in "
            "a second session of fresh processes; the limit is 5.0 %; the newest session, of "
            "1000019, had 100 us (100 us -> 110 us, a session varies by 0.1 %)");
  EXPECT_EQ(finding.next, "set a 'waive' with its reason, if it is meant, in rules/mine.yaml:7:5");
}

TEST(History, PassesWhatASecondSessionDoesNotConfirm) {
  const Finding finding = FindingOf(History(), WithHistory(20, 110'000, 101'000));
  EXPECT_EQ(finding.status, Status::kPass);
  EXPECT_THAT(finding.message,
              HasSubstr("10.0 % above the median of 20 sessions of main, and 1.0 % above it in a "
                        "second session of fresh processes; that does not confirm it"));
}

TEST(History, IsInconclusiveOfASlowdownWithinWhatTheSessionsVaryBy) {
  CasePair pair = WithHistory(20, 108'000, 108'000);
  for (size_t i = 0; i < pair.past.size(); ++i) {
    pair.past[i].evidence = Timed(kPastNs * (0.943 + 0.006 * static_cast<double>(i)));
  }
  const Finding finding = FindingOf(History(), pair);
  EXPECT_EQ(finding.status, Status::kInconclusive);
  EXPECT_FALSE(finding.past->wants_session);
  EXPECT_THAT(finding.message, HasSubstr("beyond the tolerance of 5 %, but the sessions themselves "
                                         "vary so much that it fails from 13.3 % on"));
}

TEST(History, OfAMachineInTwoModesDoesNotFailTheSlowerOne) {
  CasePair pair = WithHistory(20, 150'000, 150'000);
  for (const size_t slow : {3, 11}) pair.past[slow].evidence = Timed(151'000);
  EXPECT_EQ(FindingOf(History(), pair).status, Status::kInconclusive);
  pair.past[3].evidence = Timed(kPastNs);  // a single one is an outlier
  EXPECT_EQ(FindingOf(History(), pair).status, Status::kFail);
}

TEST(History, OfTooFewSessionsNeverPasses) {
  Rule rule = History();
  const CasePair pair = WithHistory(19, 101'000);
  Finding finding = FindingOf(rule, pair);
  EXPECT_EQ(finding.status, Status::kSkipped);
  EXPECT_EQ(finding.message,
            "this machine and stack have 19 sessions of main, and the rule needs 20");
  rule.require_history = true;
  finding = FindingOf(rule, pair);
  EXPECT_EQ(finding.status, Status::kNotComparable);
  EXPECT_EQ(finding.lacks, Lack::kHistory);
  EXPECT_EQ(finding.next,
            "measure main until there are enough, or set 'require_history: false' in "
            "rules/mine.yaml:7:5");
}

TEST(History, OfSessionsInTwoGroupsFailsNothing) {
  CasePair pair = WithHistory(20, 170'000, 170'000);
  for (size_t slow = 0; slow < 8; ++slow) pair.past[slow].evidence = Timed(150'000);
  const Finding finding = FindingOf(History(), pair);
  EXPECT_EQ(finding.status, Status::kInconclusive);
  EXPECT_THAT(finding.message, HasSubstr("the sessions themselves fall into two groups: it may be "
                                         "of the slower one by chance"));
}

struct LeftOut {
  const char* name;
  void (*change)(PastSession&);
  const char* words;
};

class SessionThat : public testing::TestWithParam<LeftOut> {};

TEST_P(SessionThat, DoesNotCount) {
  CasePair pair = WithHistory(20, 101'000);
  GetParam().change(pair.past[7]);
  const Finding finding = FindingOf(History(), pair);
  EXPECT_EQ(finding.status, Status::kSkipped);
  EXPECT_EQ(finding.message, std::string("this machine and stack have 19 sessions of main, and the "
                                         "rule needs 20 (not counted: 1 ") +
                                 GetParam().words + ")");
}

INSTANTIATE_TEST_SUITE_P(
    History, SessionThat,
    testing::Values(
        LeftOut{"IsOfAnotherBranch", [](PastSession& s) { s.branch = "topic"; },
                "of other branches"},
        LeftOut{"IsOfNoBranch", [](PastSession& s) { s.branch = ""; }, "of no branch"},
        LeftOut{"HasUncommittedChanges", [](PastSession& s) { s.dirty = true; },
                "with uncommitted changes"},
        LeftOut{"HasAPlantedDefect", [](PastSession& s) { s.evidence.plant = "clone"; },
                "with a planted defect"},
        LeftOut{"WasQuick", [](PastSession& s) { s.quick = true; }, "measured by --quick"},
        LeftOut{"HasOtherWindows", [](PastSession& s) { s.windows.timed_iterations = 10; },
                "measured in other windows"},
        LeftOut{"IsIncomplete",
                [](PastSession& s) { s.evidence.incomplete_because = {"timed out"}; },
                "incomplete"},
        LeftOut{"WasNotSteady", [](PastSession& s) { s.evidence.not_steady = "it drifts"; },
                "not steady"},
        LeftOut{"HasNoValue", [](PastSession& s) { s.evidence.values.clear(); }, "without a value"},
        LeftOut{"IsOfAnotherStack",
                [](PastSession& s) { s.evidence.key.fields["torch"] = "2.12.0"; },
                "of another machine, stack or definition"},
        LeftOut{"IsOfAnotherDriver",
                [](PastSession& s) { s.evidence.key.recorded["driver"] = "590"; },
                "of another machine, stack or definition"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(History, TakesTheNewestSessions) {
  CasePair pair = WithHistory(40, 101'000);
  for (size_t i = 0; i < 20; ++i) pair.past[i].evidence = Timed(50'000);
  const Finding finding = FindingOf(History(), pair);
  EXPECT_EQ(finding.base, kPastNs);
  EXPECT_EQ(finding.past->first_run, "run-20");
  EXPECT_EQ(finding.past->last_run, "run-39");
}

TEST(History, SinceACommitStandsSoThatSmallStepsAddUp) {
  CasePair pair = WithHistory(20, 106'500, 106'400);
  for (int i = 0; i < 30; ++i) pair.past.push_back(Session(20 + i, i < 15 ? 103'000 : 106'000));
  EXPECT_EQ(FindingOf(History(), pair).status, Status::kPass);
  const Finding finding = FindingOf(History({.tolerance = 0.05, .since = "1000000"}), pair);
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.base, kPastNs);
  EXPECT_THAT(finding.message,
              AllOf(HasSubstr("6.5 % above the median of 20 sessions of main from 1000000 on"),
                    HasSubstr("it rose between 1000034 and 1000035, 103 us -> 106 us (+2.9 %)")));
  EXPECT_THAT(finding.next, HasSubstr("a later 'since'"));
}

TEST(History, SinceACommitThatWasNotMeasuredIsNotComparableOnceThereAreSessionsEnough) {
  const Rule rule = History({.tolerance = 0.05, .since = "fffffff"});
  Finding finding = FindingOf(rule, WithHistory(20, 101'000));
  EXPECT_EQ(finding.status, Status::kNotComparable);
  EXPECT_EQ(finding.lacks, Lack::kSince);
  EXPECT_EQ(finding.message,
            "no stored run before this one is of fffffff, from which on it compares");
  EXPECT_EQ(finding.next,
            "set 'since' to a run or commit that `perfgate history` lists in rules/mine.yaml:7:5");
  finding = FindingOf(rule, WithHistory(19, 101'000));
  EXPECT_EQ(finding.status, Status::kSkipped) << "so few sessions judge nothing, whatever `since`";
}

TEST(History, SinceTheVeryRunThatIsJudgedIsSkipped) {
  CasePair pair = WithHistory(20, 101'000);
  pair.run = "run-20";
  pair.commit = "fffffffabcdef";
  for (const char* since : {"fffffff", "run-20"}) {
    const Finding finding = FindingOf(History({.tolerance = 0.05, .since = since}), pair);
    EXPECT_EQ(finding.status, Status::kSkipped);
    EXPECT_EQ(finding.message, std::string("no stored run but this one is of ") + since +
                                   ", from which on it compares");
  }
}

TEST(History, SinceARunIsAPlaceInTimeWhateverTheRunHolds) {
  CasePair pair = WithHistory(30, 106'500, 106'400);
  pair.past[5].evidence = Evidence();  // it did not measure the case
  const Rule rule = History({.tolerance = 0.05, .since = "run-5"});
  Finding finding = FindingOf(rule, pair);
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.past->first_run, "run-6");
  pair.past[5] = Session(5, kPastNs);
  pair.past[5].dirty = true;
  pair.past[5].branch = "topic";
  finding = FindingOf(rule, pair);
  EXPECT_EQ(finding.past->first_run, "run-6");
  EXPECT_EQ(finding.past->last_run, "run-25");
}

TEST(History, OfThisGpuIsTakenWhereItIsLongEnoughElseThatOfItsModel) {
  CasePair pair = WithHistory(25, 101'000);
  for (size_t i = 0; i < 5; ++i) {
    pair.past[i].evidence = Timed(130'000);
    pair.past[i].evidence.key.recorded["gpu_uuid"] = "GPU-2";
  }
  Finding finding = FindingOf(History(), pair);
  EXPECT_EQ(finding.base, kPastNs);
  EXPECT_THAT(finding.message, Not(HasSubstr("GPUs of this model")));
  pair.past[24].evidence.key.recorded["gpu_uuid"] = "GPU-2";
  finding = FindingOf(History(), pair);
  EXPECT_THAT(finding.message, HasSubstr("20 sessions of main on GPUs of this model"));
}

TEST(History, JudgesNoTimesThatAreNotSteadyOrWereMeasuredByQuick) {
  CasePair pair = WithHistory(20, 101'000);
  pair.head.not_steady = "the latencies drift";
  EXPECT_EQ(FindingOf(History(), pair).status, Status::kInconclusive);
  EXPECT_EQ(FindingOf(History(), pair).message, "latency.p50 proves nothing: the latencies drift");
  pair = WithHistory(20, 101'000);
  pair.quick = true;
  EXPECT_EQ(FindingOf(History(), pair).status, Status::kSkipped);
  EXPECT_EQ(FindingOf(History(), pair).message,
            "measured by --quick, which is too short to be compared with a history");
}

TEST(History, OfATraceThatIsJudgedAsItIsAsksForNoSecondSession) {
  CasePair pair = WithHistory(20, 110'000);
  pair.declared.trace = "trace.json";
  EXPECT_FALSE(FindingOf(History(), pair).past->wants_session);
}

TEST(History, FailsAreWaivedLikeOthers) {
  Rule rule = History();
  rule.waive = Waiver{"2027-01-31", "slower cuBLAS", "", "", {}};
  const Finding finding = FindingOf(rule, WithHistory(20, 110'000, 109'000));
  EXPECT_EQ(finding.status, Status::kWaived);
  EXPECT_THAT(finding.message, HasSubstr("waived until 2027-01-31: slower cuBLAS"));
}

TEST(History, OfBareTracesIsSkipped) {
  EXPECT_EQ(
      FindingOf(History(), WithHistory(20, 110'000), {.today = "2027-01-15", .bare_diff = true})
          .status,
      Status::kSkipped);
}

}  // namespace
}  // namespace perfgate
