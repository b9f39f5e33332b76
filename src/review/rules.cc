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

// A judged case of now; `before` is its own name too, if it is new.
struct CaseNames {
  std::string before, now;
};

std::vector<CaseNames> JudgedNames(const Suite& base, const Suite& head) {
  std::vector<CaseNames> names;
  for (const Case& item : head.cases) {
    if (item.reference_only) continue;
    const Case* before = CaseBefore(base, item);
    names.push_back({before == nullptr ? item.name : before->name, item.name});
  }
  return names;
}

// The cases that a glob takes by their names of then or now, by those of now; "" takes all.
std::set<std::string> Taken(const std::vector<CaseNames>& cases, const std::string& glob,
                            std::string CaseNames::*name) {
  std::set<std::string> names;
  for (const CaseNames& item : cases) {
    if (glob.empty() || MatchesGlob(glob, item.*name)) names.insert(item.now);
  }
  return names;
}

std::vector<std::string> Without(const std::set<std::string>& all,
                                 const std::set<std::string>& of) {
  std::vector<std::string> left;
  std::set_difference(all.begin(), all.end(), of.begin(), of.end(), std::back_inserter(left));
  return left;
}

// Which cases another glob takes, or the same one where cases were renamed.
struct GlobChange {
  std::vector<std::string> lost, won;
  std::string Text() const {
    std::vector<std::string> parts;
    if (!lost.empty()) parts.push_back("no longer for " + SomeOf(lost));
    if (!won.empty()) parts.push_back("now for " + SomeOf(won));
    return Join(parts, ", ");
  }
};

GlobChange CompareTaken(const std::vector<CaseNames>& cases, const std::string& before,
                        const std::string& now) {
  const std::set<std::string> was = Taken(cases, before, &CaseNames::before);
  const std::set<std::string> is = Taken(cases, now, &CaseNames::now);
  return {Without(was, is), Without(is, was)};
}

// By what both globs take of the cases of now: another text that takes the same is no news.
void CompareGlobs(const std::vector<CaseNames>& cases, const Rule& before, const Rule& now,
                  ReviewTexts* texts) {
  const GlobChange change = CompareTaken(cases, before.cases, now.cases);
  const bool moved = !change.lost.empty() || !change.won.empty();
  if (before.cases == now.cases && !moved) return;
  std::string text = "cases " + before.cases;
  if (before.cases != now.cases) text += " -> " + now.cases;
  if (moved) text += ", " + change.Text();
  texts->Add(!change.lost.empty()  ? Effect::kLoosens
             : !change.won.empty() ? Effect::kTightens
                                   : Effect::kAlters,
             text);
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
  if (now->value == 0) return false;
  return before->relative != now->relative || now->value > before->value;
}

ReviewItem ReviewWaiver(const Rule& rule, const Waiver& before, const Waiver& now,
                        const GlobChange& change) {
  const bool more =
      now.until > before.until || !change.won.empty() || HidesMore(before.up_to, now.up_to);
  const bool less =
      now.until < before.until || !change.lost.empty() || HidesMore(now.up_to, before.up_to);
  const Effect effect = more ? Effect::kWaives : less ? Effect::kTightens : Effect::kAlters;
  std::vector<std::string> parts = {Terms(now)};
  if (Terms(before) != Terms(now)) {
    parts.push_back("before: " + Terms(before));
  } else if (more || less) {
    parts.push_back(change.Text());
  }
  if (Terms(before) == Terms(now) && before.reason != now.reason) {
    parts.push_back("its reason was: " + before.reason);
  }
  return {effect, rule.full_id, Join(parts, "; "), now.reason};
}

void ReviewWaivers(const std::vector<CaseNames>& cases, const Rule* before, const Rule& now,
                   std::vector<ReviewItem>* items) {
  const Waiver* was = before != nullptr && before->waive ? &*before->waive : nullptr;
  if (now.waive && was == nullptr) {
    items->push_back({Effect::kWaives, now.full_id, Terms(*now.waive), now.waive->reason});
  } else if (now.waive) {
    const GlobChange change = CompareTaken(cases, was->cases, now.waive->cases);
    const bool same = Terms(*was) == Terms(*now.waive) && was->reason == now.waive->reason;
    if (same && change.Text().empty()) return;
    items->push_back(ReviewWaiver(now, *was, *now.waive, change));
  } else if (was != nullptr) {
    items->push_back({Effect::kTightens, now.full_id, "no longer " + Terms(*was), was->reason});
  }
}

void CompareRules(const std::vector<CaseNames>& cases, const Rule& before, const Rule& now,
                  ReviewTexts* texts) {
  if (before.severity != now.severity) {
    texts->Add(now.severity > before.severity,
               fmt::format("severity {} -> {}", ToString(before.severity), ToString(now.severity)));
  }
  if (before.severity == Severity::kOff || now.severity == Severity::kOff) return;
  CompareGlobs(cases, before, now, texts);
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
  if (before.require_history != now.require_history) {
    texts->Add(now.require_history,
               now.require_history ? "now requires a history" : "no longer requires a history");
  }
  if (before.covers != now.covers) texts->Add(Effect::kAlters, "covers");
}

// The rules of now, each with the one that it was: of the same file or pack, else of the same id in
// one that has it no more.
using RulePairs = std::map<const Rule*, const Rule*>;

RulePairs PairRules(const std::vector<Rule>& base, const std::vector<Rule>& head) {
  RulePairs pairs;
  for (const Rule& now : head) {
    if (const Rule* before = Find(base, now.full_id)) pairs[&now] = before;
  }
  std::set<const Rule*> moved;
  for (const Rule& now : head) {
    if (pairs.contains(&now)) continue;
    const auto before = std::find_if(base.begin(), base.end(), [&](const Rule& rule) {
      return rule.id == now.id && Find(head, rule.full_id) == nullptr && !moved.contains(&rule);
    });
    if (before == base.end()) continue;
    pairs[&now] = &*before;
    moved.insert(&*before);
  }
  return pairs;
}

std::string RulesText(const std::vector<std::string>& ids) {
  return fmt::format("{}: {}", Plural(static_cast<int64_t>(ids.size()), "rule"), SomeOf(ids));
}

// Rules that stand in another file or pack now, one item for each two.
void AddMoves(const std::vector<Rule>& head, const RulePairs& pairs,
              std::vector<ReviewItem>* items) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> moves;
  for (const Rule& now : head) {
    const auto pair = pairs.find(&now);
    if (pair == pairs.end() || pair->second->full_id == now.full_id) continue;
    moves[{SourceOf(now), SourceOf(*pair->second)}].push_back(now.id);
  }
  for (const auto& [sources, ids] : moves) {
    items->push_back({Effect::kAlters, sources.first,
                      fmt::format("in place of {} ({})", sources.second, RulesText(ids)), ""});
  }
}

// Rules that judged and are gone, or judge and were not there, by the file or pack they are of: a
// whole one is one item.
void AddGroups(const std::vector<Rule>& all, const std::set<const Rule*>& kept,
               const std::set<std::string>& other_sources, Effect effect, std::string_view whole,
               std::string_view one, std::vector<ReviewItem>* items) {
  std::map<std::string, std::vector<std::string>> by_source;
  std::vector<std::string> order;
  for (const Rule& rule : all) {
    if (rule.severity == Severity::kOff || kept.contains(&rule)) continue;
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
    items->push_back({effect, source, fmt::format("{} ({})", whole, RulesText(ids)), ""});
  }
}

std::set<std::string> Sources(const std::vector<Rule>& rules) {
  std::set<std::string> sources;
  for (const Rule& rule : rules) sources.insert(SourceOf(rule));
  return sources;
}

}  // namespace

std::vector<ReviewItem> ReviewRules(const Suite& base, const Suite& head) {
  const std::vector<CaseNames> cases = JudgedNames(base, head);
  const RulePairs pairs = PairRules(base.rules, head.rules);
  std::set<const Rule*> kept_of_base, kept_of_head;
  for (const auto& [now, before] : pairs) {
    kept_of_base.insert(before);
    kept_of_head.insert(now);
  }
  std::vector<ReviewItem> items;
  AddGroups(base.rules, kept_of_base, Sources(head.rules), Effect::kLoosens, "no longer listed",
            "removed", &items);
  AddGroups(head.rules, kept_of_head, Sources(base.rules), Effect::kTightens, "now listed",
            "new rule", &items);
  AddMoves(head.rules, pairs, &items);
  for (const Rule& now : head.rules) {
    const auto pair = pairs.find(&now);
    const Rule* before = pair == pairs.end() ? nullptr : pair->second;
    ReviewWaivers(cases, before, now, &items);
    if (before == nullptr) continue;
    ReviewTexts texts;
    CompareRules(cases, *before, now, &texts);
    texts.MoveInto(now.full_id, &items);
  }
  return items;
}

}  // namespace perfgate
