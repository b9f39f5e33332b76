#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/selftest.h"

namespace perfgate::cli {
namespace {

std::string_view ToString(Group group) {
  switch (group) {
    case Group::kUnchanged:
      return "unchanged";
    case Group::kStructure:
      return "structure";
    case Group::kNumbers:
      return "numbers";
    case Group::kTime:
      return "time";
  }
  return "";
}

std::string_view ToString(Caught caught) {
  switch (caught) {
    case Caught::kYes:
      return "yes";
    case Caught::kNo:
      return "no";
    case Caught::kUndecided:
      return "undecided";
    case Caught::kNotMeasured:
      return "not_measured";
  }
  return "";
}

// "perfgate:structure/no-extra-kernel" -> "no-extra-kernel"
std::string ShortRule(const std::string& rule) { return rule.substr(rule.rfind('/') + 1); }

void AddOnce(std::string rule, std::vector<std::string>& into) {
  if (std::find(into.begin(), into.end(), rule) == into.end()) into.push_back(std::move(rule));
}

std::string Slower(const SelftestResult& result) {
  if (!result.slower) return "";
  return fmt::format("{:+.1f} %", *result.slower * 100);
}

// What stands in the column "caught by".
std::string CaughtBy(const SelftestResult& result) {
  const bool clean = result.planted.group == Group::kUnchanged && result.caught == Caught::kNo;
  if (clean && result.warned_by.empty()) return "nothing to catch: green";
  std::string text = Join(result.by, ", ");
  if (!result.warned_by.empty()) {
    text += fmt::format("{}warned: {}", text.empty() ? "" : "; ", Join(result.warned_by, ", "));
  }
  return text;
}

// What stands in the column "missed".
std::string Missed(const SelftestResult& result) {
  const bool unchanged = result.planted.group == Group::kUnchanged;
  switch (result.caught) {
    case Caught::kYes:
      return unchanged ? "a FALSE failure" : "";
    case Caught::kNo:
      if (unchanged) return "";
      return SelftestReport::IsBroken(result) ? "MISSED" : "passed as not slower by 5 %";
    case Caught::kUndecided:
      return result.unconfirmed ? "undecided: there was no time for more pairs"
                                : "undecided: this machine is too noisy for it";
    case Caught::kNotMeasured:
      return "not measured: " + Printable(result.said);
  }
  return "";
}

std::string Heading(const SelftestReport& report) {
  const auto count = [&](auto is) {
    return std::count_if(report.results.begin(), report.results.end(), is);
  };
  const auto lost = count([](const auto& each) { return each.caught == Caught::kNotMeasured; });
  const auto broken = count(SelftestReport::IsBroken);
  if (report.results.empty() || lost > 0) {
    return fmt::format("ERROR  {} could not be measured", Plural(lost, "workload"));
  }
  if (broken > 0) return fmt::format("FAIL  the gate broke {}", Plural(broken, "promise"));
  return "PASS  every defect that changes structure or numbers was caught, and no unchanged code "
         "failed";
}

// From which size on every larger slowdown of a kind was caught.
std::string FromSizeOn(const SelftestReport& report, bool planted, const char* of) {
  double from = 0;
  for (auto each = report.results.rbegin(); each != report.results.rend(); ++each) {
    const Planted& what = each->planted;
    if (what.group != Group::kTime || what.declared.plant.empty() == planted) continue;
    if (each->caught != Caught::kYes) break;
    from = what.size;
  }
  if (from == 0) return fmt::format("no size of {} was caught for sure", of);
  return fmt::format("{}: caught from {:g} % on", of, from * 100);
}

std::vector<std::string> Sizes(const SelftestReport& report) {
  const bool any = std::any_of(report.results.begin(), report.results.end(),
                               [](const auto& each) { return each.planted.group == Group::kTime; });
  if (!any) return {};
  return {FromSizeOn(report, true, "a busier host"), FromSizeOn(report, false, "a longer cache")};
}

std::string PlainText(const SelftestReport& report) {
  std::string text = fmt::format("{}\n      {}{}{}\n\n", Heading(report), Printable(report.device),
                                 report.stack.empty() ? "" : " · ", Printable(report.stack));
  text += fmt::format("{:<8} {:<58} {:>8}  {}\n", "workload", "defect", "p50", "caught by");
  for (const SelftestResult& each : report.results) {
    const std::string by = CaughtBy(each), missed = Missed(each);
    text += fmt::format("{:<8} {:<58} {:>8}  {}{}{}\n", each.planted.workload, each.planted.defect,
                        Slower(each), by, !by.empty() && !missed.empty() ? "; " : "", missed);
  }
  const std::vector<std::string> sizes = Sizes(report);
  if (!sizes.empty()) text += "\n";
  for (const std::string& size : sizes) text += size + "\n";
  return text;
}

std::string Markdown(const SelftestReport& report) {
  std::string text = fmt::format("**{}**\n\n{}\n\n", Heading(report), Printable(report.device));
  text += "| workload | defect | p50 | caught by | missed |\n|---|---|---|---|---|\n";
  for (const SelftestResult& each : report.results) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", each.planted.workload, each.planted.defect,
                        Slower(each), CaughtBy(each), Missed(each));
  }
  for (const std::string& size : Sizes(report)) text += "\n" + size + ".\n";
  return text;
}

Json ReportJson(const SelftestReport& report) {
  Json results{Json::Array{}};
  for (const SelftestResult& each : report.results) {
    results.Push(Json(Json::Object{{"group", Json(ToString(each.planted.group))},
                                   {"workload", Json(each.planted.workload)},
                                   {"defect", Json(each.planted.defect)},
                                   {"plant", Json(each.planted.declared.plant)},
                                   {"size", Json(each.planted.size)},
                                   {"caught", Json(ToString(each.caught))},
                                   {"by", Json::ArrayOf(each.by)},
                                   {"warned_by", Json::ArrayOf(each.warned_by)},
                                   {"slower", each.slower ? Json(*each.slower) : Json()},
                                   {"broken", Json(SelftestReport::IsBroken(each))},
                                   {"unconfirmed", Json(each.unconfirmed)},
                                   {"said", Json(each.said)}}));
  }
  return Json(Json::Object{{"schema", Json("perfgate.selftest/1")},
                           {"exit_code", Json(report.ExitCode())},
                           {"device", Json(report.device)},
                           {"stack", Json(report.stack)},
                           {"results", std::move(results)}});
}

}  // namespace

SelftestResult ResultOf(const Planted& planted, const CaseVerdict& verdict) {
  SelftestResult result;
  result.planted = planted;
  for (const Finding& finding : verdict.findings) {
    if (finding.times) result.slower = finding.times->comparison.shift;
    switch (finding.status) {
      case Status::kFail:
      case Status::kSuspicious:
        AddOnce(ShortRule(finding.rule), result.by);
        break;
      case Status::kWarn:
        AddOnce(ShortRule(finding.rule), result.warned_by);
        break;
      case Status::kInconclusive:
        result.caught = Caught::kUndecided;
        result.unconfirmed =
            finding.times && (finding.times->wants_pairs ||
                              finding.times->comparison.undecided == Undecided::kTooFewPairs);
        break;
      case Status::kError:
      case Status::kMissing:
      case Status::kNotComparable:
        result.caught = Caught::kNotMeasured;
        result.said = finding.message;
        break;
      default:
        break;
    }
    if (result.caught == Caught::kNotMeasured) return result;
  }
  if (!result.by.empty()) result.caught = Caught::kYes;
  return result;
}

bool SelftestReport::IsBroken(const SelftestResult& result) {
  switch (result.planted.group) {
    case Group::kUnchanged:
      return result.caught == Caught::kYes;
    case Group::kStructure:
    case Group::kNumbers:
      return result.caught == Caught::kNo || result.caught == Caught::kUndecided;
    case Group::kTime:
      return result.caught == Caught::kNo && result.planted.size >= kPlainSlowdown &&
             !result.planted.declared.plant.empty();
  }
  return false;
}

int SelftestReport::ExitCode() const {
  const auto lost = [](const SelftestResult& each) { return each.caught == Caught::kNotMeasured; };
  if (results.empty() || std::any_of(results.begin(), results.end(), lost)) return 3;
  return std::any_of(results.begin(), results.end(), IsBroken) ? 1 : 0;
}

std::string AsText(const SelftestReport& report, Format format) {
  if (format == Format::kJson) return WriteJson(ReportJson(report), 3);
  return format == Format::kMarkdown ? Markdown(report) : PlainText(report);
}

}  // namespace perfgate::cli
