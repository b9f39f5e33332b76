#include "cli/calibration_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "stats/stats.h"

namespace perfgate::cli {
namespace {

constexpr std::array kPairs = {kScreeningPairs, kComparisonPairs, 2 * kComparisonPairs};

std::string Heading(const CalibrationReport& report) {
  if (!report.unmeasured.empty()) {
    return fmt::format("ERROR  {} could not be measured",
                       Plural(static_cast<int64_t>(report.unmeasured.size()), "case"));
  }
  if (const auto& rules = report.unmeasured_rules; !rules.empty()) {
    return fmt::format("ERROR  {} on times could not be measured",
                       Plural(static_cast<int64_t>(rules.size()), "rule"));
  }
  const auto rules = static_cast<int64_t>(report.resolutions.size());
  if (report.Unresolved() > 0) {
    return fmt::format("CANNOT RESOLVE  {} of {} on times ask for more than this machine can tell",
                       report.Unresolved(), Plural(rules, "rule"));
  }
  if (rules == 0) return "CALIBRATED  no rule on times asks for anything (`regression`)";
  return fmt::format("CALIBRATED  this machine can resolve {}", rules == 1
                                                                    ? "the rule on times"
                                                                    : fmt::format("all {} rules on "
                                                                                  "times",
                                                                                  rules));
}

std::string Changes(const Calibration& calibration) {
  std::vector<std::string> changes;
  for (const int pairs : kPairs) {
    changes.push_back(PercentUp(DetectableChange(calibration.noise, pairs)));
  }
  return Join(changes, " / ");
}

std::string TypicalOf(const Calibration& calibration) {
  const Unit unit = Info(calibration.metric).unit;
  if (const auto& levels = calibration.levels) {
    return fmt::format("{} or {}", FormatValue(levels->low, unit), FormatValue(levels->high, unit));
  }
  return FormatValue(calibration.median, unit);
}

// Of a Resolution or an UnmeasuredRule.
std::string RuleText(const auto& rule) {
  return fmt::format("{} ({}), {}", Printable(rule.rule), Printable(ToString(rule.where)),
                     Info(rule.metric).name);
}

// Lines of at most kWidth characters, each with the indent before it.
std::string Wrapped(const std::string& text, size_t indent) {
  constexpr size_t kWidth = 110;
  std::string lines, line(indent, ' ');
  for (const std::string& word : Split(text, ' ')) {
    if (line.size() > indent && line.size() + 1 + word.size() > kWidth) {
      lines += line + "\n";
      line.assign(indent, ' ');
    }
    line += (line.size() > indent ? " " : "") + word;
  }
  return lines + line + "\n";
}

// What the swaps say, and what so few comparisons do not.
std::vector<std::string> RatesInWords(const CalibrationReport& report) {
  int swaps = 0, failed = 0, inconclusive = 0, as_measured = 0;
  for (const Resolution& resolution : report.resolutions) {
    swaps += resolution.swaps;
    failed += resolution.failed;
    inconclusive += resolution.inconclusive;
    as_measured += resolution.failed_as_measured;
  }
  if (swaps == 0) return {};
  const int cases = report.Cases();
  return {fmt::format(
              "{} of {} verdicts on these pairs, with their labels swapped at random, failed: at "
              "most {} do on pairs like these (95 % sure). {} were inconclusive.",
              failed, swaps, PercentUp(UpperBoundOfRate(failed, swaps)), inconclusive),
          fmt::format(
              "As measured {} of {} failed. {} no more than a rate below {}; 59 "
              "without a failure would prove 5 %, 299 would prove 1 %.",
              as_measured, Plural(static_cast<int64_t>(report.resolutions.size()), "verdict"),
              Plural(cases, "case proves", "cases prove"), PercentUp(UpperBoundOfRate(0, cases)))};
}

std::string Subtitle(const CalibrationReport& report) {
  return fmt::format("suite {}{}{} · {} pairs of A against A", Printable(report.suite),
                     report.device.empty() ? "" : " · ", Printable(report.device), report.pairs);
}

std::string PlainText(const CalibrationReport& report) {
  std::string text = fmt::format("{}\n      {}\n", Heading(report), Subtitle(report));
  for (const auto& [name, reason] : report.unmeasured) {
    text += fmt::format("\n{}\n  could not be measured: {}\n", Printable(name), Printable(reason));
  }
  for (const auto& [name, reason] : report.left_out) {
    text += fmt::format("\n{}\n  left out: {}\n", Printable(name), Printable(reason));
  }
  std::string last;
  for (const Calibration& each : report.calibrations) {
    if (each.case_name != last) {
      text += fmt::format("\n{}\n  {:<21} {:>13}  {:>9}  a change shows from, with {} pairs\n",
                          Printable(each.case_name), "time", "typical", "noise",
                          fmt::format("{} / {} / {}", kPairs[0], kPairs[1], kPairs[2]));
    }
    last = each.case_name;
    text += fmt::format("  {:<21} {:>13}  {:>9}  {}\n", Info(each.metric).name, TypicalOf(each),
                        PercentUp(each.noise), Changes(each));
    for (const Resolution& rule : report.resolutions) {
      if (rule.case_name != each.case_name || rule.metric != each.metric) continue;
      if (rule.why_not.empty()) {
        text += fmt::format("    {}: {:g} % can be told, by {} pairs\n", RuleText(rule),
                            rule.tolerance * 100, rule.pairs_needed);
        continue;
      }
      text += Wrapped(fmt::format("{}: {:g} % cannot be told here: {}", RuleText(rule),
                                  rule.tolerance * 100, Printable(rule.why_not)),
                      4);
      text += Wrapped("next  " + Printable(rule.next), 6);
    }
  }
  if (!report.unmeasured_rules.empty()) text += "\nNot measured\n";
  for (const UnmeasuredRule& rule : report.unmeasured_rules) {
    text += Wrapped(fmt::format("{} of {}: not measured: {}", RuleText(rule),
                                Printable(rule.case_name), Printable(rule.reason)),
                    2);
  }
  const std::vector<std::string> rates = RatesInWords(report);
  if (!rates.empty()) text += "\nVerdicts\n";
  for (const std::string& sentence : rates) text += Wrapped(sentence, 2);
  if (!report.disturbances.empty()) text += "\nWhat makes times vary here, and what mends it\n";
  for (const Disturbance& each : report.disturbances) {
    text += Wrapped(each.found, 2) + Wrapped(each.mend, 6);
  }
  return text;
}

std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : Printable(text)) cell += c == '|' ? "\\|" : std::string(1, c);
  return cell;
}

std::string Markdown(const CalibrationReport& report) {
  std::string text = fmt::format("**{}**\n\n{}\n", Heading(report), Cell(Subtitle(report)));
  for (const auto& [name, reason] : report.unmeasured) {
    text += fmt::format("\n- {} could not be measured: {}\n", Cell(name), Cell(reason));
  }
  for (const auto& [name, reason] : report.left_out) {
    text += fmt::format("\n- {} was left out: {}\n", Cell(name), Cell(reason));
  }
  for (const UnmeasuredRule& rule : report.unmeasured_rules) {
    text += fmt::format("\n- {} of {}: not measured: {}\n", Cell(RuleText(rule)),
                        Cell(rule.case_name), Cell(rule.reason));
  }
  text += fmt::format(
      "\n| case | time | typical | noise of a pair | a change shows from, with {} / {} / {} pairs "
      "|\n"
      "|---|---|---|---|---|\n",
      kPairs[0], kPairs[1], kPairs[2]);
  for (const Calibration& each : report.calibrations) {
    text +=
        fmt::format("| {} | {} | {} | {} | {} |\n", Cell(each.case_name), Info(each.metric).name,
                    TypicalOf(each), PercentUp(each.noise), Changes(each));
  }
  text +=
      report.resolutions.empty() ? "" : "\n| rule | case | tolerance | here |\n|---|---|---|---|\n";
  for (const Resolution& rule : report.resolutions) {
    text += fmt::format("| {} | {} | {:g} % | {} |\n", Cell(RuleText(rule)), Cell(rule.case_name),
                        rule.tolerance * 100,
                        rule.why_not.empty() ? fmt::format("{} pairs", rule.pairs_needed)
                                             : Cell(rule.why_not + "; " + rule.next));
  }
  for (const std::string& line : RatesInWords(report)) text += "\n" + line + "\n";
  text += report.disturbances.empty() ? "" : "\n| found | mended by |\n|---|---|\n";
  for (const Disturbance& each : report.disturbances) {
    text += fmt::format("| {} | {} |\n", Cell(each.found), Cell(each.mend));
  }
  return text;
}

Json CalibrationsJson(const CalibrationReport& report) {
  Json all{Json::Array{}};
  for (const Calibration& each : report.calibrations) {
    Json one = ToJson(each);
    Json changes{Json::Object{}};
    for (const int pairs : kPairs) {
      changes.Append(fmt::format("{}", pairs), DetectableChange(each.noise, pairs));
    }
    one.Append("fingerprint", each.Fingerprint());
    one.Append("detectable_with_pairs", std::move(changes));
    one.Append("resolvable", ResolvableTolerance(each.noise, kComparisonPairs));
    all.Push(std::move(one));
  }
  return all;
}

Json RulesJson(const CalibrationReport& report) {
  Json all{Json::Array{}};
  for (const Resolution& rule : report.resolutions) {
    all.Push(Json(Json::Object{{"rule", Json(rule.rule)},
                               {"where", Json(ToString(rule.where))},
                               {"case", Json(rule.case_name)},
                               {"metric", Json(Info(rule.metric).name)},
                               {"tolerance", Json(rule.tolerance)},
                               {"pairs_needed", Json(rule.pairs_needed)},
                               {"why_not", Json(rule.why_not)},
                               {"next", Json(rule.next)},
                               {"swaps", Json(rule.swaps)},
                               {"failed", Json(rule.failed)},
                               {"inconclusive", Json(rule.inconclusive)},
                               {"failed_as_measured", Json(rule.failed_as_measured)}}));
  }
  return all;
}

Json ReasonsJson(const std::vector<std::pair<std::string, std::string>>& reasons) {
  Json all{Json::Array{}};
  for (const auto& [name, reason] : reasons) {
    all.Push(Json(Json::Object{{"case", Json(name)}, {"reason", Json(reason)}}));
  }
  return all;
}

Json UnmeasuredRulesJson(const CalibrationReport& report) {
  Json all{Json::Array{}};
  for (const UnmeasuredRule& rule : report.unmeasured_rules) {
    all.Push(Json(Json::Object{{"rule", Json(rule.rule)},
                               {"where", Json(ToString(rule.where))},
                               {"case", Json(rule.case_name)},
                               {"metric", Json(Info(rule.metric).name)},
                               {"reason", Json(rule.reason)}}));
  }
  return all;
}

Json ReportJson(const CalibrationReport& report) {
  Json disturbances{Json::Array{}};
  for (const Disturbance& each : report.disturbances) {
    disturbances.Push(Json(Json::Object{{"found", Json(each.found)}, {"mend", Json(each.mend)}}));
  }
  return Json(Json::Object{{"schema", Json("perfgate.calibrate/1")},
                           {"exit_code", Json(report.ExitCode())},
                           {"suite", Json(report.suite)},
                           {"device", Json(report.device)},
                           {"measured", Json(report.measured)},
                           {"pairs", Json(report.pairs)},
                           {"calibrations", CalibrationsJson(report)},
                           {"rules", RulesJson(report)},
                           {"unmeasured", ReasonsJson(report.unmeasured)},
                           {"unmeasured_rules", UnmeasuredRulesJson(report)},
                           {"left_out", ReasonsJson(report.left_out)},
                           {"disturbances", std::move(disturbances)}});
}

}  // namespace

int CalibrationReport::Cases() const {
  std::set<std::string> names;
  for (const Resolution& resolution : resolutions) names.insert(resolution.case_name);
  return static_cast<int>(names.size());
}

int CalibrationReport::Unresolved() const {
  return static_cast<int>(
      std::count_if(resolutions.begin(), resolutions.end(),
                    [](const Resolution& resolution) { return !resolution.why_not.empty(); }));
}

int CalibrationReport::ExitCode() const {
  if (!unmeasured.empty() || !unmeasured_rules.empty() || calibrations.empty()) return 3;
  return Unresolved() > 0 ? 4 : 0;
}

std::string AsText(const CalibrationReport& report, Format format) {
  if (format == Format::kJson) return WriteJson(ReportJson(report), 3);
  return format == Format::kMarkdown ? Markdown(report) : PlainText(report);
}

}  // namespace perfgate::cli
