// Rules that came, went or demand something else, and their waivers.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "review/items.h"

namespace perfgate {
namespace {

// "perfgate:fusion" of "perfgate:fusion/nothing-split".
std::string SourceOf(const Rule& rule) { return rule.full_id.substr(0, rule.full_id.rfind('/')); }

const Rule* Find(const std::vector<Rule>& rules, const std::string& full_id) {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const Rule& rule) { return rule.full_id == full_id; });
  return found == rules.end() ? nullptr : &*found;
}

// Judged cases that a glob takes; "" takes all.
std::set<std::string> Taken(const Suite& suite, const std::string& glob) {
  std::set<std::string> names;
  for (const Case& item : suite.cases) {
    const bool taken = glob.empty() || MatchesGlob(glob, item.name);
    if (!item.reference_only && taken) names.insert(item.name);
  }
  return names;
}

std::vector<std::string> Without(const std::set<std::string>& all,
                                 const std::set<std::string>& of) {
  std::vector<std::string> left;
  std::set_difference(all.begin(), all.end(), of.begin(), of.end(), std::back_inserter(left));
  return left;
}

// By what both globs take of the cases of now: another text that takes the same is no news.
void CompareGlobs(const Suite& head, const Rule& before, const Rule& now, ReviewTexts* texts) {
  if (before.cases == now.cases) return;
  const std::set<std::string> was = Taken(head, before.cases), is = Taken(head, now.cases);
  const std::vector<std::string> lost = Without(was, is), won = Without(is, was);
  const std::string globs = fmt::format("cases {} -> {}", before.cases, now.cases);
  if (!lost.empty()) {
    texts->Add(Effect::kLoosens, fmt::format("{}, no longer for {}", globs, SomeOf(lost)));
  } else if (!won.empty()) {
    texts->Add(Effect::kTightens, fmt::format("{}, now for {}", globs, SomeOf(won)));
  } else {
    texts->Add(Effect::kAlters, globs);
  }
}

void CompareDevices(const Rule& before, const Rule& now, ReviewTexts* texts) {
  if (before.device == now.device) return;
  Effect effect = Effect::kAlters;
  if (before.device == DeviceFilter::kAny) effect = Effect::kLoosens;
  if (now.device == DeviceFilter::kAny) effect = Effect::kTightens;
  texts->Add(effect, fmt::format("device {} -> {}", ToString(before.device), ToString(now.device)));
}

void CompareMetrics(const Rule& before, const Rule& now, ReviewTexts* texts) {
  if (before.check.index() != now.check.index()) return;  // which is told as a whole
  const auto names = [](const Rule& rule) {
    std::set<std::string> all;
    for (const MetricId id : rule.metrics) all.insert(std::string(Info(id).name));
    return all;
  };
  const std::vector<std::string> lost = Without(names(before), names(now));
  const std::vector<std::string> won = Without(names(now), names(before));
  if (!lost.empty()) texts->Add(Effect::kLoosens, "no longer on " + SomeOf(lost));
  if (!won.empty()) texts->Add(Effect::kTightens, "now on " + SomeOf(won));
}

std::string Terms(const Waiver& waiver) {
  std::string text = "waived until " + waiver.until;
  if (!waiver.cases.empty()) text += ", cases " + waiver.cases;
  if (waiver.up_to) text += ", up to " + waiver.up_to->text;
  if (!waiver.owner.empty()) text += ", owner " + waiver.owner;
  return text;
}

// An unlimited waiver hides more than any limited one; an absolute and a relative limit have no
// order.
bool HidesMore(const std::optional<Allowance>& before, const std::optional<Allowance>& now) {
  if (!before) return false;
  if (!now) return true;
  return before->relative != now->relative || now->value > before->value;
}

ReviewItem ReviewWaiver(const Suite& head, const Rule& rule, const Waiver& before,
                        const Waiver& now) {
  const std::set<std::string> was = Taken(head, before.cases), is = Taken(head, now.cases);
  const bool more =
      now.until > before.until || !Without(is, was).empty() || HidesMore(before.up_to, now.up_to);
  const bool less =
      now.until < before.until || !Without(was, is).empty() || HidesMore(now.up_to, before.up_to);
  const Effect effect = more ? Effect::kWaives : less ? Effect::kTightens : Effect::kAlters;
  std::string was_otherwise = "before: " + Terms(before);
  if (Terms(before) == Terms(now)) was_otherwise = "its reason was: " + before.reason;
  return {effect, rule.full_id, Terms(now) + "; " + was_otherwise, now.reason};
}

void ReviewWaivers(const Suite& head, const Rule* before, const Rule& now,
                   std::vector<ReviewItem>* items) {
  const Waiver* was = before != nullptr && before->waive ? &*before->waive : nullptr;
  if (now.waive && was == nullptr) {
    items->push_back({Effect::kWaives, now.full_id, Terms(*now.waive), now.waive->reason});
  } else if (now.waive) {
    const bool same = Terms(*was) == Terms(*now.waive) && was->reason == now.waive->reason;
    if (!same) items->push_back(ReviewWaiver(head, now, *was, *now.waive));
  } else if (was != nullptr) {
    items->push_back({Effect::kTightens, now.full_id, "no longer " + Terms(*was), was->reason});
  }
}

void CompareRules(const Suite& head, const Rule& before, const Rule& now, ReviewTexts* texts) {
  if (before.severity != now.severity) {
    texts->Add(now.severity > before.severity,
               fmt::format("severity {} -> {}", ToString(before.severity), ToString(now.severity)));
  }
  CompareGlobs(head, before, now, texts);
  CompareDevices(before, now, texts);
  CompareMetrics(before, now, texts);
  CompareChecks(before, now, texts);
  if (before.optional != now.optional) {
    texts->Add(before.optional, now.optional ? "now optional" : "no longer optional");
  }
  if (before.aggregate_max != now.aggregate_max) {
    texts->Add(before.aggregate_max, now.aggregate_max
                                         ? "an unstable metric is judged by its largest step"
                                         : "an unstable metric is an error again");
  }
  if (before.require_paired != now.require_paired) {
    texts->Add(now.require_paired,
               now.require_paired ? "now requires paired runs" : "no longer requires paired runs");
  }
  if (before.covers != now.covers) texts->Add(Effect::kAlters, "covers");
}

// Rules that judged and are gone, or judge and were not there, by the file or pack they are of: a
// whole one is one item.
void AddGroups(const std::vector<Rule>& all, const std::vector<Rule>& others, Effect effect,
               std::string_view whole, std::string_view one, std::vector<ReviewItem>* items) {
  std::set<std::string> other_sources;
  for (const Rule& rule : others) other_sources.insert(SourceOf(rule));
  std::map<std::string, std::vector<std::string>> by_source;
  std::vector<std::string> order;
  for (const Rule& rule : all) {
    if (rule.severity == Severity::kOff || Find(others, rule.full_id) != nullptr) continue;
    const std::string source = SourceOf(rule);
    if (other_sources.contains(source)) {
      items->push_back({effect, rule.full_id, std::string(one), ""});
      continue;
    }
    if (by_source[source].empty()) order.push_back(source);
    by_source[source].push_back(rule.id);
  }
  for (const std::string& source : order) {
    const std::vector<std::string>& ids = by_source[source];
    items->push_back({effect, source,
                      fmt::format("{} ({}: {})", whole,
                                  Plural(static_cast<int64_t>(ids.size()), "rule"), SomeOf(ids)),
                      ""});
  }
}

}  // namespace

std::vector<ReviewItem> ReviewRules(const Suite& base, const Suite& head) {
  std::vector<ReviewItem> items;
  AddGroups(base.rules, head.rules, Effect::kLoosens, "no longer listed", "removed", &items);
  AddGroups(head.rules, base.rules, Effect::kTightens, "now listed", "new rule", &items);
  for (const Rule& now : head.rules) {
    const Rule* before = Find(base.rules, now.full_id);
    ReviewWaivers(head, before, now, &items);
    if (before == nullptr) continue;
    ReviewTexts texts;
    CompareRules(head, *before, now, &texts);
    texts.MoveInto(now.full_id, &items);
  }
  return items;
}

}  // namespace perfgate
