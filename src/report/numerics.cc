#include "report/numerics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "report/html.h"
#include "report/layout.h"
#include "report/markdown.h"

namespace perfgate {
namespace {

constexpr size_t kMostOutputLines = 50;

// An output in words, the worst of its processes.
struct OutputLine {
  std::string output, relative, absolute, where, not_finite;
};

std::string BracketedNumbers(const std::vector<int64_t>& numbers) {
  std::vector<std::string> texts;
  for (const int64_t number : numbers) texts.push_back(fmt::format("{}", number));
  return fmt::format("[{}]", Join(texts, ", "));
}

std::string OutputErrorText(double error) {
  return std::isinf(error) ? "infinite" : fmt::format("{:.3g}", error);
}

std::string ElementText(double value) {
  return std::isnan(value) ? "NaN" : fmt::format("{:.6g}", value);
}

bool IsWorseOutput(const OutputRow& row, const OutputRow& than) {
  if (row.error && than.error && row.error->relative != than.error->relative) {
    return row.error->relative > than.error->relative;
  }
  return row.nan_count + row.inf_count > than.nan_count + than.inf_count;
}

std::vector<const OutputRow*> WorstOfEach(const std::vector<OutputRow>& rows) {
  std::vector<const OutputRow*> worst;
  for (const OutputRow& row : rows) {
    const auto same = std::find_if(worst.begin(), worst.end(),
                                   [&](const OutputRow* other) { return other->name == row.name; });
    if (same == worst.end()) {
      worst.push_back(&row);
    } else if (IsWorseOutput(row, **same)) {
      *same = &row;
    }
  }
  return worst;
}

std::string CountOrUnknown(int64_t count) {
  return count < 0 ? "unknown" : fmt::format("{}", count);
}

OutputLine OutputLineOf(const OutputRow& row) {
  OutputLine line;
  line.output = Safe(fmt::format("{} {} {}", row.name, row.dtype, BracketedNumbers(row.shape)));
  line.not_finite = fmt::format("NaN {}, infinite {}", CountOrUnknown(row.nan_count),
                                CountOrUnknown(row.inf_count));
  if (!row.error) return line;
  line.relative = OutputErrorText(row.error->relative);
  line.absolute = OutputErrorText(row.error->largest);
  if (row.error->largest == 0) {
    line.where = "equal everywhere";
  } else {
    line.where =
        Safe(fmt::format("furthest at {}: {} for {}", BracketedNumbers(row.error->index),
                         ElementText(row.error->value), ElementText(row.error->reference)));
  }
  return line;
}

std::vector<OutputLine> OutputLines(const Evidence& evidence) {
  std::vector<OutputLine> lines;
  for (const OutputRow* row : WorstOfEach(evidence.outputs)) {
    if (lines.size() < kMostOutputLines) lines.push_back(OutputLineOf(*row));
  }
  return lines;
}

std::string OutputTitle(const Evidence& evidence) {
  if (evidence.reference.empty()) return "outputs";
  return "outputs against " + Safe(evidence.reference);
}

}  // namespace

std::string NumericsAsText(const Evidence& evidence) {
  const std::vector<OutputLine> lines = OutputLines(evidence);
  if (lines.empty()) return "";
  std::string text = fmt::format("\n{}\n", OutputTitle(evidence));
  if (!evidence.reference.empty()) text += fmt::format("{:>9}  {:>9}\n", "relative", "absolute");
  for (const OutputLine& line : lines) {
    std::vector<std::string> words = {line.output};
    if (!line.where.empty()) words.push_back(line.where);
    words.push_back(line.not_finite);
    text += fmt::format("{:>9}  {:>9}  {}\n", line.relative, line.absolute, Join(words, ", "));
  }
  return text;
}

std::string NumericsAsMarkdown(const Evidence& evidence) {
  const std::vector<OutputLine> lines = OutputLines(evidence);
  if (lines.empty()) return "";
  std::string text = fmt::format("\n### {}\n\n", markdown::Prose(OutputTitle(evidence)));
  text +=
      "| output | relative error | largest error | where | not finite |\n"
      "| --- | ---: | ---: | --- | --- |\n";
  for (const OutputLine& line : lines) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", markdown::Prose(line.output), line.relative,
                        line.absolute, markdown::Prose(line.where), line.not_finite);
  }
  return text;
}

std::string NumericsAsHtml(const Evidence& evidence) {
  html::Table table(
      OutputTitle(evidence),
      {{"output"}, {"relative error", true}, {"largest error", true}, {"where"}, {"not finite"}});
  for (const OutputLine& line : OutputLines(evidence)) {
    table.Add({{html::Text(line.output)},
               {line.relative},
               {line.absolute},
               {html::Text(line.where)},
               {html::Text(line.not_finite)}});
  }
  return table.Take();
}

}  // namespace perfgate
