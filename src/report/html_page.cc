// The HTML page: one file that loads nothing and is read without its script.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "embedded_report.h"
#include "report/evidence_words.h"
#include "report/html.h"
#include "report/html_sections.h"
#include "report/report.h"
#include "report/review_words.h"

namespace perfgate::html {
namespace {

// What a page may have; what mail and artifact viewers still show.
constexpr size_t kMostBytes = 4'900'000;
constexpr size_t kIndexWidth = 160;
constexpr size_t kMostReviewRows = 500;

const EmbeddedFile& Embedded(std::string_view name) {
  return *std::find_if(kEmbeddedFiles.begin(), kEmbeddedFiles.end(),
                       [&](const EmbeddedFile& file) { return file.path.ends_with(name); });
}

// RFC 4648 of bytes that are given in hex.
std::string Base64OfHex(std::string_view hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < hex.size(); at += 6) {
    const std::string group(hex.substr(at, 6));
    uint32_t bits = static_cast<uint32_t>(std::stoul(group, nullptr, 16));
    bits <<= 4 * (6 - group.size());
    const size_t digits = (group.size() * 4 + 5) / 6;
    for (size_t i = 0; i < 4; ++i) {
      text += i < digits ? kDigits[(bits >> (18 - 6 * i)) & 63] : '=';
    }
  }
  return text;
}

std::string SourceOf(const EmbeddedFile& file) {
  return "'sha256-" + Base64OfHex(file.sha256) + "'";
}

// Nothing from elsewhere, no script and no style but the two of ours: a name that got through the
// escaping would still start nothing.
std::string Head(std::string_view title) {
  const EmbeddedFile &style = Embedded("page.css"), &script = Embedded("page.js");
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; "
      "script-src {}; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n",
      SourceOf(style), SourceOf(script), Text(title), style.text);
}

std::string Foot() {
  return fmt::format(
      "<footer><p>perfgate {}. This page is one file and loads nothing. Traces are kept in the out "
      "folder: <code>Open trace file</code> on <code>ui.perfetto.dev</code> reads one inside the "
      "browser, without an upload.</p></footer>\n<script>{}</script>\n</body>\n</html>\n",
      PERFGATE_VERSION, Embedded("page.js").text);
}

std::string Top(const Verdict& verdict, const Headline& headline) {
  std::string text = fmt::format("<header>\n<h1><span class=\"mark {}\">{}</span> {}</h1>\n",
                                 headline.good  ? "good"
                                 : headline.bad ? "bad"
                                                : "look",
                                 headline.word, Text(headline.sentence));
  if (!headline.context.empty()) text += "<p>" + Text(headline.context) + "</p>\n";
  if (!headline.banner.empty()) text += "<p class=\"banner\">" + Text(headline.banner) + "</p>\n";
  for (const std::string& problem : verdict.problems) {
    text += "<p class=\"banner\"><strong>problem</strong>: ";
    std::string separator;
    for (const std::string& line : Split(problem, '\n')) {
      text += separator + Text(line);
      separator = "<br>";
    }
    text += "</p>\n";
  }
  return text + "</header>\n";
}

std::string ReviewSection(const Review& review) {
  if (!HasNews(review)) return "";
  std::string text = "<section aria-labelledby=\"review\">\n";
  const std::string problem = ReviewProblem(review);
  text += fmt::format("<h2 id=\"review\">{}</h2>\n",
                      Text(review.items.empty() ? "What this change accepts, loosens or waives"
                                                : ReviewSentence(review)));
  if (!problem.empty()) text += "<p class=\"banner\">" + Text(problem) + "</p>\n";
  for (const std::string& note : ShownNotes(review)) text += "<p>" + Text(note) + "</p>\n";
  const std::vector<ReviewItem> items = ShownItems(review);
  Table table("Suite, rules, waivers and baselines", {{"effect"}, {"of"}, {"what"}, {"reason"}});
  for (size_t i = 0; i < items.size() && i < kMostReviewRows; ++i) {
    const ReviewItem& item = items[i];
    const bool look = item.effect == Effect::kWaives || item.effect == Effect::kLoosens;
    table.Add({{Text(ToString(item.effect))},
               {Code(item.subject)},
               {Text(item.text)},
               {Text(item.reason)}},
              look ? "look" : "");
  }
  if (!table.empty()) text += table.Take();
  if (items.size() > kMostReviewRows) {
    text +=
        fmt::format("<p>and {} more: see the JSON report</p>\n", items.size() - kMostReviewRows);
  }
  return text + "</section>\n";
}

// The worst thing said of a case, in few words.
std::string InFewWords(const CaseVerdict& item) {
  if (!item.incomplete_because.empty())
    return Shorten(item.incomplete_because.front(), kIndexWidth);
  const auto findings =
      FindingsInOrder(item, [&](const Finding& finding) { return finding.status == item.status; });
  if (findings.empty()) return "";
  const auto others = static_cast<int64_t>(findings.size()) - 1;
  if (!IsTrouble(item.status) && item.status != Status::kWarn) {
    return Plural(static_cast<int64_t>(findings.size()), "finding");
  }
  return Shorten(findings.front()->message, kIndexWidth) +
         (others == 0 ? "" : fmt::format(" and {} more", others));
}

// What the case is shown as: incomplete evidence proves nothing, whatever rules say.
Status ShownStatus(const CaseVerdict& item) {
  return item.incomplete_because.empty() ? item.status : Status::kError;
}

std::string ShownMark(const CaseVerdict& item) {
  const Status status = ShownStatus(item);
  return StatusMark(status, status == item.status ? Words(item) : Words(status));
}

std::string Index(const std::vector<const CaseVerdict*>& cases) {
  if (cases.size() < 2) return "";
  Table table("Cases, the worst first", {{"case"}, {"status"}, {"what"}});
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string link =
        fmt::format("<a href=\"#case-{}\">{}</a>", i, Text(cases[i]->case_name));
    const Status status = ShownStatus(*cases[i]);
    table.Add({{link}, {ShownMark(*cases[i])}, {Text(InFewWords(*cases[i]))}}, ClassOf(status));
  }
  return "<nav aria-label=\"Cases\">\n" + table.Take() + "</nav>\n";
}

// A case in parts that are kept whole or left out whole.
struct CaseParts {
  std::string heading;  // opens the section
  std::string verdict, trends, time_line, tables;
};

// Trends of one case and key stand side by side.
std::vector<std::span<const Trend>> ByCaseAndKey(std::span<const Trend> trends) {
  std::vector<std::span<const Trend>> groups;
  while (!trends.empty()) {
    const auto other = std::find_if(trends.begin(), trends.end(), [&](const Trend& trend) {
      return trend.case_name != trends[0].case_name || trend.key != trends[0].key;
    });
    groups.push_back(trends.first(static_cast<size_t>(other - trends.begin())));
    trends = trends.subspan(groups.back().size());
  }
  return groups;
}

std::string TrendsOf(const std::string& case_name, std::span<const Trend> trends) {
  std::string text;
  for (const std::span<const Trend> group : ByCaseAndKey(trends)) {
    if (group[0].case_name == case_name) text += Trends(group);
  }
  return text.empty() ? "" : "<h3>Over the stored runs</h3>\n" + text;
}

std::string Tables(const Sides& sides, const Diff* diff) {
  return Numerics(sides) + Kernels(sides, diff) + Communication(sides) + Latency(sides) +
         MetricsOf(sides) + Environment(sides) + LeftOut(sides);
}

std::string Traces(const std::vector<std::string>& attempts) {
  std::string items;
  for (const std::string& attempt : attempts) items += "<li>" + Code(attempt) + "</li>\n";
  return Folded("Where the traces are", items.empty() ? "" : "<ul>\n" + items + "</ul>\n");
}

CaseParts PartsOf(const RuleNames& names, const CaseVerdict& item, const CasePair* pair,
                  std::span<const Trend> trends, size_t number) {
  CaseParts parts;
  parts.heading = fmt::format(
      "<section class=\"case\" id=\"case-{0}\" aria-labelledby=\"name-{0}\">\n"
      "<h2 id=\"name-{0}\">{1} {2}</h2>\n",
      number, Code(item.case_name), ShownMark(item));
  parts.verdict = Circumstances(item) + Findings(names, item);
  const Diff* diff = item.diff ? &*item.diff : nullptr;
  if (diff != nullptr) parts.verdict += Changes(*diff) + Answers(*diff);
  if (pair != nullptr) {
    const Sides sides{pair->base ? &*pair->base : nullptr, &pair->head};
    parts.time_line = Lanes(sides, diff);
    parts.tables = Tables(sides, diff);
  }
  parts.trends = TrendsOf(item.case_name, trends);
  parts.tables += Traces(item.attempts);
  return parts;
}

const CasePair* PairOf(std::span<const CasePair> pairs, const std::string& case_name) {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const CasePair& pair) {
    return pair.head.case_name == case_name;
  });
  return found == pairs.end() ? nullptr : &*found;
}

// Keeps one part of each case, the worst case first, while there is room, and says so where not.
void Fit(std::string CaseParts::*part, std::string_view name, std::vector<CaseParts>* cases,
         size_t* used) {
  for (CaseParts& item : *cases) {
    std::string& text = item.*part;
    if (*used + text.size() > kMostBytes) {
      text = fmt::format(
          "<p>{} left out here, because the page would be too large: <code>--case</code> asks for "
          "a page of some cases.</p>\n",
          name);
    }
    *used += text.size();
  }
}

// Verdicts have the room first, then tables, then trends, then time lines.
std::string Sections(std::vector<CaseParts> cases, size_t used) {
  for (const CaseParts& item : cases) used += item.heading.size();
  Fit(&CaseParts::verdict, "What was judged is", &cases, &used);
  Fit(&CaseParts::tables, "The tables are", &cases, &used);
  Fit(&CaseParts::trends, "The trend is", &cases, &used);
  Fit(&CaseParts::time_line, "The time line is", &cases, &used);
  std::string text;
  for (const CaseParts& item : cases) {
    text +=
        item.heading + item.verdict + item.trends + item.time_line + item.tables + "</section>\n";
  }
  return text;
}

// Sections of cases, and as many of them as there is room for.
std::string HistorySections(const std::vector<std::span<const Trend>>& groups) {
  std::string text;
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string metrics = Trends(groups[i]);
    if (text.size() + metrics.size() > kMostBytes) {
      return text + fmt::format(
                        "<p>{} more are left out here, because the page would be too large: "
                        "<code>--case</code> asks for a page of some cases.</p>\n",
                        Plural(static_cast<int64_t>(groups.size() - i), "case"));
    }
    text += fmt::format(
        "<section class=\"case\" aria-labelledby=\"name-{0}\">\n"
        "<h2 id=\"name-{0}\">{1} <small>key {2}</small></h2>\n{3}</section>\n",
        i, Code(groups[i][0].case_name), Text(groups[i][0].key.substr(0, 8)),
        metrics.empty() ? "<p>One run is no history.</p>\n" : metrics);
  }
  return text;
}

}  // namespace
}  // namespace perfgate::html

namespace perfgate {

std::string VerdictAsHtml(const Verdict& verdict, std::span<const CasePair> pairs,
                          std::span<const Trend> trends) {
  const Headline headline = HeadlineOf(verdict);
  const RuleNames names(verdict);
  const std::vector<const CaseVerdict*> cases = CasesInOrder(verdict);
  std::string text = html::Head("perfgate: " + headline.word + ", " + headline.sentence);
  text += html::Top(verdict, headline) + "<main id=\"main\">\n";
  if (verdict.review) text += html::ReviewSection(*verdict.review);
  text += html::Index(cases);
  std::vector<html::CaseParts> parts;
  for (const CaseVerdict* item : cases) {
    parts.push_back(
        html::PartsOf(names, *item, html::PairOf(pairs, item->case_name), trends, parts.size()));
  }
  text += html::Sections(std::move(parts), text.size());
  return text + "</main>\n" + html::Foot();
}

std::string EvidenceAsHtml(const Evidence& evidence) {
  std::string text = html::Head("perfgate: " + evidence.case_name);
  text += fmt::format(
      "<header>\n<h1><span class=\"mark {}\">{}</span> {}</h1>\n<p>{}</p>\n</header>\n"
      "<main id=\"main\">\n",
      evidence.Complete() ? "good" : "bad", evidence.Complete() ? "COMPLETE" : "INCOMPLETE",
      html::Code(evidence.case_name),
      html::Text(StepsText(evidence) + " · " + evidence.device_name));
  CaseVerdict item;
  item.incomplete_because = evidence.incomplete_because;
  item.plant = evidence.plant;
  item.fallback = evidence.fallback;
  item.notes = evidence.notes;
  item.notes.insert(item.notes.end(), evidence.notes_on_times.begin(),
                    evidence.notes_on_times.end());
  text += "<h2>What the trace proves</h2>\n" + html::Circumstances(item);
  const html::Sides sides{nullptr, &evidence};
  text += html::Lanes(sides, nullptr) + html::Tables(sides, nullptr);
  return text + "</main>\n" + html::Foot();
}

std::string TrendsAsHtml(std::span<const Trend> trends) {
  const auto groups = html::ByCaseAndKey(trends);
  return html::Head("perfgate: history") +
         fmt::format(
             "<header>\n<h1>History of {}</h1>\n<p>A case measured on another machine or "
             "with another stack stands by itself.</p>\n</header>\n<main id=\"main\">\n",
             Plural(static_cast<int64_t>(groups.size()), "case")) +
         html::HistorySections(groups) + "</main>\n" + html::Foot();
}

}  // namespace perfgate
