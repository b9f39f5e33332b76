// What a rule's check demands, against what it demanded before.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/text.h"
#include "base/units.h"
#include "review/items.h"

namespace perfgate {
namespace {

template <typename Number>
std::string NumberText(const std::optional<Number>& number, Unit unit) {
  return number ? FormatValue(static_cast<double>(*number), unit) : "none";
}

// A bound from above demands more the lower it is, one from below the higher; none demands nothing.
template <typename Number>
void CompareBound(std::string_view name, const std::optional<Number>& before,
                  const std::optional<Number>& now, bool from_above, Unit unit,
                  ReviewTexts* texts) {
  if (before == now) return;
  bool stricter = !before;
  if (before && now) stricter = from_above ? *now < *before : *now > *before;
  texts->Add(stricter,
             fmt::format("{} {} -> {}", name, NumberText(before, unit), NumberText(now, unit)));
}

std::string CountText(const std::optional<CountBound>& count) {
  if (!count || (!count->at_most && !count->at_least)) return "any";
  if (count->at_most == count->at_least) return std::to_string(*count->at_most);
  std::vector<std::string> parts;
  if (count->at_least) parts.push_back(fmt::format("at least {}", *count->at_least));
  if (count->at_most) parts.push_back(fmt::format("at most {}", *count->at_most));
  return Join(parts, ", ");
}

// Stricter where fewer numbers pass. An absent bound is not judged at all.
void CompareCounts(std::string_view what, const std::optional<CountBound>& before,
                   const std::optional<CountBound>& now, ReviewTexts* texts) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const CountBound was = before.value_or(CountBound{}), is = now.value_or(CountBound{});
  const int64_t was_least = was.at_least.value_or(0), is_least = is.at_least.value_or(0);
  const int64_t was_most = was.at_most.value_or(kMost), is_most = is.at_most.value_or(kMost);
  const bool more = is_least < was_least || is_most > was_most;
  const bool less = is_least > was_least || is_most < was_most;
  if (!more && !less) return;
  texts->Add(more && less ? Effect::kAlters
             : more       ? Effect::kLoosens
                          : Effect::kTightens,
             fmt::format("{} {} -> {}", what, CountText(before), CountText(now)));
}

std::string AllowanceTexts(const std::vector<Allowance>& allowances) {
  std::vector<std::string> parts;
  for (const Allowance& each : allowances) parts.push_back(each.text);
  return parts.empty() ? "none" : Join(parts, " and ");
}

// How far the allowances of a kind let a value go; an absent one lets it go nowhere, as one of 0.
double Largest(const std::vector<Allowance>& allowances, bool relative) {
  double largest = 0;
  for (const Allowance& each : allowances) {
    if (each.relative == relative) largest = std::max(largest, std::abs(each.value));
  }
  return largest;
}

// A check fails only if all allowances of a list are exceeded: one of another kind, or a larger
// one, lets more through. An empty list demands nothing.
void CompareAllowances(std::string_view name, const std::vector<Allowance>& before,
                       const std::vector<Allowance>& now, ReviewTexts* texts) {
  if (before == now) return;
  const std::string text =
      fmt::format("{} {} -> {}", name, AllowanceTexts(before), AllowanceTexts(now));
  if (before.empty() || now.empty()) {
    texts->Add(before.empty(), text);
    return;
  }
  bool more = false, less = false;
  for (const bool relative : {false, true}) {
    const double was = Largest(before, relative), is = Largest(now, relative);
    more = more || is > was;
    less = less || is < was;
  }
  if (!more && !less) return;  // as much passes, written otherwise
  texts->Add(more && less ? Effect::kAlters : more ? Effect::kLoosens : Effect::kTightens, text);
}

std::optional<double> BoundFor(const std::string& dtype, const std::vector<DtypeBound>& bounds) {
  for (const DtypeBound& bound : bounds) {
    if (bound.dtype == dtype) return bound.at_most;
  }
  return std::nullopt;
}

void CompareDtypeBounds(const std::vector<DtypeBound>& before, const std::vector<DtypeBound>& now,
                        Unit unit, ReviewTexts* texts) {
  for (const DtypeBound& bound : before) {
    CompareBound("at most for " + bound.dtype, std::optional(bound.at_most),
                 BoundFor(bound.dtype, now), true, unit, texts);
  }
  for (const DtypeBound& bound : now) {
    if (BoundFor(bound.dtype, before)) continue;
    CompareBound("at most for " + bound.dtype, std::optional<double>(),
                 std::optional(bound.at_most), true, unit, texts);
  }
}

void CompareSelector(std::string_view name, const std::optional<KernelSelector>& before,
                     const std::optional<KernelSelector>& now, ReviewTexts* texts) {
  if (before == now) return;
  if (before && now) {
    texts->Add(Effect::kAlters, fmt::format("`{}` selects otherwise", name));
  } else {
    texts->Add(now.has_value(), fmt::format("`{}` {}", name, now ? "is new" : "is gone"));
  }
}

std::string_view FlagText(const std::optional<bool>& flag) {
  return !flag ? "any" : *flag ? "true" : "false";
}

struct Comparison {
  const Rule& before_rule;
  ReviewTexts* texts;

  void operator()(const LimitCheck& before, const LimitCheck& now) const {
    const Unit unit =
        before_rule.metrics.empty() ? Unit::kCount : Info(before_rule.metrics.front()).unit;
    CompareBound("at most", before.at_most, now.at_most, true, unit, texts);
    CompareBound("at least", before.at_least, now.at_least, false, unit, texts);
    CompareDtypeBounds(before.by_dtype, now.by_dtype, unit, texts);
  }
  void operator()(const ChangeCheck& before, const ChangeCheck& now) const {
    CompareAllowances("at most", before.at_most, now.at_most, texts);
    CompareAllowances("at least", before.at_least, now.at_least, texts);
  }
  void operator()(const RegressionCheck& before, const RegressionCheck& now) const {
    if (before.tolerance == now.tolerance) return;
    texts->Add(
        now.tolerance < before.tolerance,
        fmt::format("tolerance {:g} % -> {:g} %", before.tolerance * 100, now.tolerance * 100));
  }
  void operator()(const HistoryCheck& before, const HistoryCheck& now) const {
    if (before.tolerance != now.tolerance) {
      texts->Add(
          now.tolerance < before.tolerance,
          fmt::format("tolerance {:g} % -> {:g} %", before.tolerance * 100, now.tolerance * 100));
    }
    if (before.sessions != now.sessions) {
      texts->Add(Effect::kAlters, fmt::format("sessions {} -> {}", before.sessions, now.sessions));
    }
    if (before.branch != now.branch) {
      texts->Add(Effect::kAlters, fmt::format("branch {} -> {}", before.branch, now.branch));
    }
    if (before.since == now.since) return;
    // What has drifted since the earlier one is accepted by a later one.
    texts->Add(before.since.empty(),
               fmt::format("since {} -> {}", before.since.empty() ? "none" : before.since,
                           now.since.empty() ? "none" : now.since));
  }
  void operator()(const KernelsCheck& before, const KernelsCheck& now) const {
    if (before.among != now.among) texts->Add(Effect::kAlters, "`among` selects otherwise");
    CompareCounts("count", before.count, now.count, texts);
    CompareSelector("all", before.all, now.all, texts);
    CompareSelector("none", before.none, now.none, texts);
  }
  void operator()(const FusionCheck& before, const FusionCheck& now) const {
    if (before.ops != now.ops) {
      texts->Add(Effect::kAlters,
                 fmt::format("ops {} -> {}", Join(before.ops, ", "), Join(now.ops, ", ")));
    }
    CompareCounts("fused", before.fused, now.fused, texts);
    CompareCounts("apart", before.apart, now.apart, texts);
  }
  void operator()(const ChangesCheck& before, const ChangesCheck& now) const {
    const auto missing = [](const ChangesCheck& all, const ChangesCheck& of) {
      std::vector<std::string> names;
      for (const ChangeKind kind : all.kinds) {
        if (std::find(of.kinds.begin(), of.kinds.end(), kind) == of.kinds.end()) {
          names.emplace_back(ToString(kind));
        }
      }
      return names;
    };
    const auto lost = missing(before, now), won = missing(now, before);
    if (!lost.empty()) texts->Add(Effect::kLoosens, "no longer counts " + SomeOf(lost));
    if (!won.empty()) texts->Add(Effect::kTightens, "now counts " + SomeOf(won));
    CompareCounts("count", before.count, now.count, texts);
    if (before.narrower == now.narrower) return;
    const bool one_of_both = before.narrower && now.narrower;
    texts->Add(one_of_both       ? Effect::kAlters
               : before.narrower ? Effect::kTightens
                                 : Effect::kLoosens,
               fmt::format("narrower {} -> {}", FlagText(before.narrower), FlagText(now.narrower)));
  }
};

}  // namespace

void CompareChecks(const Rule& base, const Rule& head, ReviewTexts* texts) {
  if (base.check.index() != head.check.index()) {
    texts->Add(Effect::kAlters, "another kind of check");
    return;
  }
  std::visit(
      [&](const auto& before) {
        Comparison{base, texts}(before, std::get<std::decay_t<decltype(before)>>(head.check));
      },
      base.check);
}

}  // namespace perfgate
