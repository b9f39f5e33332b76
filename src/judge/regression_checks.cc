// `regression`: times of base and head, measured in pairs of fresh processes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "judge/checks.h"
#include "judge/next_step.h"
#include "judge/time_family.h"

namespace perfgate {
namespace {

// Less than half of the last digit is no difference. Noise can part what the pairs say from the
// medians, which stand behind it.
std::string Slower(const PairedTimes& times) {
  const double shift = times.comparison.shift;
  if (std::abs(shift) < 0.0005) return "as fast as base";
  const bool parted = shift > 0 ? times.head < times.base : times.head > times.base;
  return fmt::format("{:.1f} % {} than base{}", std::abs(shift) * 100,
                     shift > 0 ? "slower" : "faster",
                     parted ? " pair by pair, if not by the medians" : "");
}

std::string Between(const Comparison& comparison) {
  if (!comparison.lower || !comparison.upper) return "";
  return fmt::format(", between {:.1f} and {:.1f} %", *comparison.lower * 100,
                     *comparison.upper * 100);
}

std::string BudgetText(int64_t budget_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  if (budget_ns % (60 * kSecond) == 0) return fmt::format("{} min", budget_ns / (60 * kSecond));
  if (budget_ns % kSecond == 0) return fmt::format("{} s", budget_ns / kSecond);
  return FormatValue(static_cast<double>(budget_ns), Unit::kNanoseconds);
}

// "; the budget of 10 min ended it after 8 of 12 pairs: a change shows from 4.1 % on"
std::string CostOfBudget(const PairedTimes& times, int64_t budget_ns) {
  const int wanted = times.round == 0 ? times.planned : std::max(times.planned, times.pairs_wanted);
  const Comparison& comparison = times.comparison;
  const int measured = comparison.pairs - times.earlier;
  if (budget_ns == 0 || measured >= wanted) return "";
  // Fewer tell nothing of their noise.
  const bool known = measured >= MinimumPairs(0.05);
  return fmt::format(
      "; the budget of {} ended it after {} of {}{}", BudgetText(budget_ns), measured,
      Plural(wanted, "pair"),
      known ? fmt::format(", which show a change from {:.1f} % on", comparison.detectable * 100)
            : "");
}

std::string MorePairs(const Comparison& comparison) {
  if (!comparison.pairs_to_decide) return "no number of pairs would decide";
  return fmt::format("about {} would decide", Plural(*comparison.pairs_to_decide, "fresh pair"));
}

// "; the confirmation by 12 fresh pairs was not run: the budget of 10 min has no time for it"
std::string NotConfirmed(const PairedTimes& times, int64_t budget_ns) {
  if (!times.wants_pairs) return "";
  return fmt::format(
      "; {} by {} fresh pairs was not run{}",
      times.round == 0 ? "the confirmation" : "a second confirmation", times.pairs_wanted,
      budget_ns > 0 ? fmt::format(": the budget of {} has no time for it", BudgetText(budget_ns))
                    : "");
}

// Why the pairs do not decide, and what would.
std::string WhyUndecided(const PairedTimes& times, double tolerance) {
  const Comparison& comparison = times.comparison;
  const std::string pairs = Plural(comparison.pairs, "pair");
  if (times.earlier > 0) {
    return fmt::format(
        "; the last {} alone would pass, but not with the {} before them: measure again",
        Plural(comparison.pairs - times.earlier, "pair"), times.earlier);
  }
  switch (comparison.undecided) {
    case Undecided::kBimodal:
      return "; the pairs fall into two groups, by chance: more of them would not decide";
    case Undecided::kNotPositive:
      return "; a time is zero, so that there is no ratio";
    case Undecided::kFamily:
      return fmt::format(
          "; beyond the limit of {:g} %, but among all comparisons of this run "
          "chance alone explains one like this; {}",
          tolerance * 100, MorePairs(comparison));
    case Undecided::kTooFewPairs:
      if (!times.wants_pairs) {
        return fmt::format("; {} {} too few", pairs, comparison.pairs == 1 ? "is" : "are");
      }
      return fmt::format("; a screening of {} cannot tell it from the limit of {:g} %", pairs,
                         tolerance * 100);
    case Undecided::kTooWide:
    case Undecided::kNothing:
      return fmt::format("; {} of this machine cannot tell it from the limit of {:g} %; {}", pairs,
                         tolerance * 100, MorePairs(comparison));
  }
  return "";
}

// Plain words first, the numbers behind.
std::string InWords(const PairedTimes& times, MetricId id, double tolerance, int64_t budget_ns) {
  const Comparison& comparison = times.comparison;
  const Unit unit = Info(id).unit;
  const bool screened = times.round == 0, decided = comparison.undecided == Undecided::kNothing;
  const std::string limit = fmt::format("; the limit is {:g} %", tolerance * 100);
  return fmt::format(
      "{} is {}{}{} ({} -> {}, {}{}, p {:.2g}){}", Info(id).name, Slower(times),
      screened ? "" : Between(comparison),
      decided ? limit : WhyUndecided(times, tolerance) + NotConfirmed(times, budget_ns),
      FormatValue(times.base, unit), FormatValue(times.head, unit),
      Plural(comparison.pairs, "pair"), screened && decided ? ", screened" : "", comparison.p,
      CostOfBudget(times, budget_ns));
}

// "; calibrated on 2027-01-31: it varies by 3.1 % from pair to pair without any change"
std::string ByCalibration(std::span<const Calibration> calibrations, MetricId id) {
  const Calibration* known = FindCalibration(calibrations, id);
  if (known == nullptr) return "";
  return fmt::format("; calibrated on {}: it varies by {} from pair to pair without any change",
                     known->measured.substr(0, 10), PercentUp(known->noise));
}

Finding WithoutPairs(const Rule& rule, const CaseFacts& facts, Finding finding) {
  const std::string message = fmt::format(
      "{} is noisy: it is judged in interleaved pairs of base and head only, and this run has none "
      "(`--against DIR` measures them)",
      Info(*finding.metric).name);
  if (!rule.require_paired || facts.policy().bare_diff) {
    return With(std::move(finding), Status::kSkipped, message);
  }
  finding.lacks = Lack::kPairs;
  return With(std::move(finding), Status::kNotComparable, message,
              EditRule(rule, "'require_paired: false'"));
}

// A base that cannot run the case at all has no times of it, as a new case has no baseline.
Finding BaseNotMeasured(const Evidence& base, Finding finding) {
  finding.lacks = Lack::kPairs;
  const bool none =
      std::none_of(base.attempts.begin(), base.attempts.end(),
                   [](const AttemptSummary& attempt) { return attempt.result.fault.empty(); });
  return With(
      std::move(finding), none ? Status::kMissing : Status::kError,
      fmt::format("{}: {}",
                  none ? "the base cannot run this case" : "the base's evidence is incomplete",
                  base.incomplete_because.front()),
      "build the checkout that --against names; its commands run there");
}

Status StatusOf(const Comparison& comparison) {
  switch (comparison.verdict) {
    case PairsVerdict::kPass:
      return comparison.improved ? Status::kImproved : Status::kPass;
    case PairsVerdict::kFail:
      return Status::kFail;
    case PairsVerdict::kInconclusive:
      return Status::kInconclusive;
  }
  return Status::kInconclusive;
}

}  // namespace

Finding CheckRegression(const RegressionCheck& check, const Rule& rule, const CaseFacts& facts,
                        Finding finding) {
  const MetricId id = *finding.metric;
  const CasePair& pair = facts.pair();
  finding.limit = fmt::format("at most +{:g}%", check.tolerance * 100);
  if (!pair.head.base_side) return WithoutPairs(rule, facts, std::move(finding));
  const Evidence& base = *pair.head.base_side;
  if (!base.Complete()) return BaseNotMeasured(base, std::move(finding));
  if (!pair.different_work.empty()) {
    finding.lacks = Lack::kSameWork;
    return With(std::move(finding), Status::kNotComparable,
                "not the same work: " + pair.different_work);
  }
  for (const Evidence* side : {&pair.head, &base}) {
    const MetricValue value = Summarise(*side, id);
    const std::string where = side == &base ? " (in the base)" : "";
    if (!value.unavailable.empty()) {
      return Unavailable(rule, facts, std::move(finding), value.unavailable + where);
    }
    const std::string doubt = WhyDoubtful(*side, id, value.value.value_or(0));
    if (!doubt.empty()) {
      return With(std::move(finding), Status::kInconclusive,
                  fmt::format("{} proves nothing{}: {}", Info(id).name, where, doubt));
    }
  }
  const PairedTimes* times = facts.family().Find(rule.full_id, finding.case_name, id);
  if (times == nullptr) return WithoutPairs(rule, facts, std::move(finding));
  finding.base = times->base;
  finding.head = times->head;
  finding.delta = times->head - times->base;
  finding.times = *times;
  std::string message = InWords(*times, id, check.tolerance, pair.budget_ns);
  const Status status = StatusOf(times->comparison);
  std::string next;
  if (status == Status::kFail) next = EditRule(rule, "a 'waive' with its reason, if it is meant,");
  if (status == Status::kInconclusive) {
    message += ByCalibration(pair.calibrations, id);
    next = fmt::format("measure on a quieter machine{}, or {}",
                       pair.budget_ns > 0 ? " or with a larger --budget" : "",
                       EditRule(rule, "a larger 'tolerance'"));
  }
  return With(std::move(finding), status, std::move(message), std::move(next));
}

}  // namespace perfgate
