#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "judge/checks.h"
#include "judge/next_step.h"
#include "judge/selector.h"

namespace perfgate {
namespace {

using Rows = std::vector<const KernelRow*>;

// Launches a step of all rows together.
std::vector<int64_t> CountPerStep(const Rows& rows, size_t steps) {
  std::vector<int64_t> counts(steps, 0);
  for (const KernelRow* row : rows) {
    for (size_t i = 0; i < row->count_per_step.size(); ++i) {
      counts[i] = SaturatingAdd(counts[i], row->count_per_step[i]);
    }
  }
  return counts;
}

// One number a step, or nothing if the steps differ and the rule does not take the largest.
std::optional<int64_t> OneCount(const Rows& rows, size_t steps, bool aggregate_max) {
  const std::vector<int64_t> counts = CountPerStep(rows, steps);
  const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
  if (*low != *high && !aggregate_max) return std::nullopt;
  return *high;
}

// "a, b and 3 more"
std::string SomeNames(const Rows& rows) {
  constexpr size_t kShown = 3;
  std::vector<std::string> names;
  for (const KernelRow* row : rows) {
    std::string name = ShownName(*row);
    // A region of Inductor is its own operator.
    if (!row->op_path.empty() && row->Operator() != name)
      name += fmt::format(" under {}", Printable(row->Operator()));
    if (names.size() < kShown && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  std::string text = Join(names, ", ");
  if (rows.size() > names.size()) text += fmt::format(" and {} more", rows.size() - names.size());
  return text;
}

void Name(const Rows& rows, Finding& finding) {
  constexpr size_t kMost = 20;
  for (const KernelRow* row : rows) {
    if (finding.kernels.size() >= kMost) return;
    finding.kernels.push_back(row->name);
    const std::string op(row->Operator());
    const auto& known = finding.operators;
    if (!op.empty() && std::find(known.begin(), known.end(), op) == known.end()) {
      finding.operators.push_back(op);
    }
  }
}

Finding Fail(const Rule& rule, const Rows& culprits, Finding finding, std::string message) {
  Name(culprits, finding);
  return With(std::move(finding), Status::kFail, std::move(message),
              EditRule(rule, "another bound or a waiver"));
}

Finding ErrorUnlessOptional(const Rule& rule, Finding finding, const std::string& message,
                            const std::string& next) {
  if (rule.optional) return With(std::move(finding), Status::kSkipped, message + " (optional)");
  return With(std::move(finding), Status::kError, message, next);
}

Finding UnstableCount(Finding finding, std::string_view what) {
  return With(std::move(finding), Status::kError,
              fmt::format("the number of {} differs from step to step", what), JudgeLargestStep());
}

// The rows that a selector takes, and those of which it cannot tell.
struct Split3 {
  Rows yes, no, unknown;
  std::string_view field;  // the unknown field of the first unknown row
};

Split3 SplitRows(const KernelSelector& selector, const Rows& rows, const Rule& rule) {
  Split3 split;
  for (const KernelRow* row : rows) {
    const Selection selection = Select(selector, *row, rule.covers);
    if (selection.answer == Answer3::kYes) split.yes.push_back(row);
    if (selection.answer == Answer3::kNo) split.no.push_back(row);
    if (selection.answer != Answer3::kUnknown) continue;
    if (split.unknown.empty()) split.field = selection.field;
    split.unknown.push_back(row);
  }
  return split;
}

std::string Undecoded(const Split3& split) {
  return fmt::format("{} of {} is not known", split.field, SomeNames(split.unknown));
}

std::string NextForUndecoded(const Rule& rule, std::string_view field) {
  return EditRule(rule, field == "ops" ? "'covers' (its operators) or 'optional: true'"
                                       : "a narrower 'among' or 'optional: true'");
}

std::string LimitText(const KernelsCheck& check) {
  std::vector<std::string> parts;
  if (check.count) parts.push_back("count " + ToString(*check.count));
  if (check.all) parts.push_back("all: " + ToText(*check.all));
  if (check.none) parts.push_back("none: " + ToText(*check.none));
  return Join(parts, "; ");
}

// One statement, `all` or `none`, on the selected rows. Nothing if it holds.
std::optional<Finding> CheckStatement(const KernelSelector& statement, bool all, const Rows& among,
                                      const Rule& rule, const Finding& finding, bool& judged) {
  const Split3 split = SplitRows(statement, among, rule);
  const Rows& culprits = all ? split.no : split.yes;
  if (!culprits.empty()) {
    const int64_t count =
        OneCount(culprits, culprits.front()->count_per_step.size(), true).value_or(0);
    return Fail(rule, culprits, finding,
                fmt::format("{} a step {} {}: {}", Plural(count, "launch", "launches"),
                            all ? "without" : "with", ToText(statement), SomeNames(culprits)));
  }
  if (!split.unknown.empty() && !rule.optional) {
    Finding out = finding;
    Name(split.unknown, out);
    return With(std::move(out), Status::kError, Undecoded(split),
                NextForUndecoded(rule, split.field));
  }
  judged = judged || split.unknown.size() < among.size();
  return std::nullopt;
}

Finding CheckCount(const CountBound& bound, const Rows& rows, const Rule& rule,
                   const CaseFacts& facts, Finding finding) {
  const auto count = OneCount(rows, facts.steps(), rule.aggregate_max);
  if (!count) return UnstableCount(std::move(finding), "selected launches");
  finding.head = static_cast<double>(*count);
  const std::string message =
      fmt::format("{} a step of {} (count {})", Plural(*count, "launch", "launches"),
                  ToText(std::get<KernelsCheck>(rule.check).among), ToString(bound));
  if (Holds(bound, *count)) return With(std::move(finding), Status::kPass, message);
  return Fail(rule, rows, std::move(finding),
              rows.empty() ? message : message + ": " + SomeNames(rows));
}

// Kernels that hold all of a fusion's operators, some of them, or nobody knows.
struct FusionRows {
  Rows fused, apart, opaque;
};

FusionRows SortByFusion(const FusionCheck& check, const Rule& rule, const Rows& kernels) {
  FusionRows rows;
  for (const KernelRow* row : kernels) {
    const std::vector<std::string>* ops = OperatorsOf(*row, rule.covers);
    if (!ops) {
      rows.opaque.push_back(row);
      continue;
    }
    const auto held = std::count_if(check.ops.begin(), check.ops.end(), [&](const std::string& op) {
      return std::find(ops->begin(), ops->end(), op) != ops->end();
    });
    if (held == static_cast<std::ptrdiff_t>(check.ops.size())) {
      rows.fused.push_back(row);
    } else if (held > 0) {
      rows.apart.push_back(row);
    }
  }
  return rows;
}

std::string LimitText(const FusionCheck& check) {
  std::vector<std::string> parts;
  if (check.fused) parts.push_back("fused " + ToString(*check.fused));
  if (check.apart) parts.push_back("apart " + ToString(*check.apart));
  return Join(parts, ", ");
}

}  // namespace

Finding CheckKernels(const Rule& rule, const CaseFacts& facts, Finding finding) {
  const auto& check = std::get<KernelsCheck>(rule.check);
  finding.limit = LimitText(check);
  const Split3 split = SplitRows(check.among, facts.kernels(), rule);
  if (!split.unknown.empty() && !rule.optional) {
    Name(split.unknown, finding);
    return With(std::move(finding), Status::kError,
                fmt::format("cannot tell what 'among' selects: {}", Undecoded(split)),
                NextForUndecoded(rule, split.field));
  }
  if (split.yes.empty() && (!check.count || !rule.optional)) {
    return ErrorUnlessOptional(
        rule, std::move(finding),
        fmt::format("no kernel of this case is among {}", ToText(check.among)),
        EditRule(rule, "'among' (perfgate inspect lists the kernels) or 'optional: true'"));
  }
  bool judged = false;
  for (const bool all : {true, false}) {
    const auto& statement = all ? check.all : check.none;
    if (!statement) continue;
    auto finished = CheckStatement(*statement, all, split.yes, rule, finding, judged);
    if (finished) return *std::move(finished);
  }
  if (check.count) return CheckCount(*check.count, split.yes, rule, facts, std::move(finding));
  if (!judged) {
    return With(std::move(finding), Status::kSkipped, "what is asked for is not known (optional)");
  }
  const int64_t count = OneCount(split.yes, facts.steps(), true).value_or(0);
  finding.head = static_cast<double>(count);
  return With(std::move(finding), Status::kPass,
              fmt::format("{} a step of {} ({})", Plural(count, "launch", "launches"),
                          ToText(check.among), LimitText(check)));
}

Finding CheckFusion(const Rule& rule, const CaseFacts& facts, Finding finding) {
  const auto& check = std::get<FusionCheck>(rule.check);
  finding.limit = LimitText(check);
  const FusionRows rows = SortByFusion(check, rule, facts.kernels());
  if (!rows.opaque.empty() && !rule.optional) {
    Name(rows.opaque, finding);
    return With(std::move(finding), Status::kError,
                fmt::format("the operators of {} are not known", SomeNames(rows.opaque)),
                EditRule(rule, fmt::format("'covers', as {},",
                                           CoversText(rows.opaque[0]->info.canonical, check.ops))));
  }
  if (rows.fused.empty() && rows.apart.empty()) {
    return ErrorUnlessOptional(
        rule, std::move(finding),
        fmt::format("no kernel of this case does {}", Join(check.ops, " or ")),
        EditRule(rule, "'ops' (perfgate inspect lists the kernels) or 'optional: true'"));
  }
  const std::string wanted = Join(check.ops, "+");
  const auto fused = OneCount(rows.fused, facts.steps(), rule.aggregate_max);
  const auto apart = OneCount(rows.apart, facts.steps(), rule.aggregate_max);
  if (!fused || !apart) return UnstableCount(std::move(finding), wanted + " launches");
  finding.head = static_cast<double>(check.fused ? *fused : *apart);
  const std::string message =
      fmt::format("{}: {} fused, {} apart a step ({})", wanted, *fused, *apart, finding.limit);
  const bool holds = (!check.fused || Holds(*check.fused, *fused)) &&
                     (!check.apart || Holds(*check.apart, *apart));
  if (holds) return With(std::move(finding), Status::kPass, message);
  const Rows& culprits = rows.apart.empty() ? rows.fused : rows.apart;
  return Fail(rule, culprits, std::move(finding), message + ": " + SomeNames(culprits));
}

}  // namespace perfgate
