// Cases that came, went, were renamed, or are measured otherwise.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "review/items.h"

namespace perfgate {
namespace {

std::vector<const Case*> Judged(const Suite& suite) {
  std::vector<const Case*> cases;
  for (const Case& item : suite.cases) {
    if (!item.reference_only) cases.push_back(&item);
  }
  return cases;
}

const Case* FindJudged(const Suite& suite, const std::string& name) {
  const auto found = std::find_if(suite.cases.begin(), suite.cases.end(), [&](const Case& item) {
    return item.name == name && !item.reference_only;
  });
  return found == suite.cases.end() ? nullptr : &*found;
}

std::string Duration(int64_t ns) {
  return FormatValue(static_cast<double>(ns), Unit::kNanoseconds);
}

void CompareCases(const Case& base, const Case& head, ReviewTexts* texts) {
  const auto alters = [&](bool differs, std::string_view what, const std::string& before,
                          const std::string& now) {
    if (differs) texts->Add(Effect::kAlters, fmt::format("{} {} -> {}", what, before, now));
  };
  const auto number = [&](std::string_view what, int before, int now) {
    alters(before != now, what, std::to_string(before), std::to_string(now));
  };
  const Windows &before = base.windows, &now = head.windows;
  if (before.traced_processes != now.traced_processes) {
    texts->Add(
        now.traced_processes > before.traced_processes,
        fmt::format("traced processes {} -> {}", before.traced_processes, now.traced_processes));
  }
  alters(base.argv != head.argv, "command", Join(base.argv, " "), Join(head.argv, " "));
  alters(base.prepare != head.prepare, "prepare", Join(base.prepare, " "), Join(head.prepare, " "));
  alters(base.trace != head.trace, "trace", base.trace, head.trace);
  alters(base.device != head.device, "device", base.device, head.device);
  number("threads", base.threads, head.threads);
  alters(base.profiler != head.profiler, "profiler", std::string(ToString(base.profiler)),
         std::string(ToString(head.profiler)));
  number("traced iterations", before.traced_iterations, now.traced_iterations);
  number("timed iterations", before.timed_iterations, now.timed_iterations);
  number("warm-up iterations", before.warmup_iterations, now.warmup_iterations);
  alters(base.timeout_ns != head.timeout_ns, "timeout", Duration(base.timeout_ns),
         Duration(head.timeout_ns));
  alters(base.reference != head.reference, "reference", base.reference, head.reference);
}

// Cases of one workload to which the same happened.
struct Group {
  Effect effect;
  std::string workload, text;
  std::vector<std::string> cases;
};

void AddTo(std::vector<Group>* groups, const Case& item, const ReviewItem& what) {
  for (Group& group : *groups) {
    if (group.effect != what.effect || group.workload != item.workload || group.text != what.text) {
      continue;
    }
    group.cases.push_back(item.name);
    return;
  }
  groups->push_back({what.effect, item.workload, what.text, {item.name}});
}

ReviewItem ItemOf(const Group& group) {
  if (group.cases.size() == 1) return {group.effect, group.cases.front(), group.text, ""};
  return {group.effect, group.workload,
          fmt::format("{}: {}: {}", Plural(static_cast<int64_t>(group.cases.size()), "case"),
                      group.text, SomeOf(group.cases)),
          ""};
}

}  // namespace

const Case* CaseBefore(const Suite& base, const Case& head) {
  if (const Case* same = FindJudged(base, head.name)) return same;
  for (const std::string& name : head.was) {
    if (const Case* earlier = FindJudged(base, name)) return earlier;
  }
  return nullptr;
}

std::vector<ReviewItem> ReviewCases(const Suite& base_suite, const Suite& head_suite) {
  const std::vector<const Case*> base = Judged(base_suite), head = Judged(head_suite);
  std::vector<Group> groups;
  std::vector<const Case*> kept;
  for (const Case* item : head) {
    const Case* before = CaseBefore(base_suite, *item);
    if (before == nullptr) {
      AddTo(&groups, *item, {Effect::kTightens, "", "new case", ""});
      continue;
    }
    kept.push_back(before);
    ReviewTexts texts;
    if (before->name != item->name) texts.Add(Effect::kAlters, "renamed, was " + before->name);
    CompareCases(*before, *item, &texts);
    std::vector<ReviewItem> items;
    texts.MoveInto(item->name, &items);
    if (items.empty() && before->digest != item->digest) {
      items.push_back({Effect::kAlters, item->name, "declared otherwise", ""});
    }
    for (const ReviewItem& each : items) AddTo(&groups, *item, each);
  }
  for (const Case* item : base) {
    if (std::find(kept.begin(), kept.end(), item) != kept.end()) continue;
    AddTo(&groups, *item, {Effect::kLoosens, "", "no longer declared", ""});
  }
  std::vector<ReviewItem> items;
  for (const Group& group : groups) items.push_back(ItemOf(group));
  return items;
}

}  // namespace perfgate
