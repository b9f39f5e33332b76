#include "report/html.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "report/layout.h"

namespace perfgate::html {

std::string Text(std::string_view text) {
  std::string escaped;
  for (const char c : Shorten(Safe(text), kLongestText)) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      case '[':  // a page that is printed into a log starts no command there
        escaped += escaped.ends_with("##") ? "&#91;" : "[";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Code(std::string_view text) { return "<code>" + Text(text) + "</code>"; }

Table::Table(std::string_view caption, std::vector<Column> columns, bool sortable)
    : caption_(caption), columns_(std::move(columns)), sortable_(sortable) {}

void Table::Add(std::vector<Cell> cells, std::string_view row_class) {
  rows_.push_back({std::move(cells), std::string(row_class)});
}

std::vector<bool> Table::ShownColumns() const {
  std::vector<bool> shown(columns_.size());
  for (const Row& row : rows_) {
    for (size_t i = 0; i < row.cells.size() && i < shown.size(); ++i) {
      if (i == 0 || !row.cells[i].markup.empty()) shown[i] = true;
    }
  }
  return shown;
}

std::string Table::RowText(const Row& row, const std::vector<bool>& shown) const {
  std::string text =
      row.row_class.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", row.row_class);
  for (size_t i = 0; i < row.cells.size() && i < shown.size(); ++i) {
    if (!shown[i]) continue;
    const Cell& cell = row.cells[i];
    const std::string key = cell.number ? fmt::format(" data-key=\"{:.15g}\"", *cell.number) : "";
    if (i == 0) {
      text += fmt::format("<th scope=\"row\"{}>{}</th>", key, cell.markup);
    } else {
      text += fmt::format("<td{}{}>{}</td>", columns_[i].number ? " class=\"n\"" : "", key,
                          cell.markup);
    }
  }
  return text + "</tr>\n";
}

std::string Table::Take() const {
  if (rows_.empty()) return "";
  // Who uses the keyboard scrolls a table that has the focus.
  std::string text = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n"
      "<table{}><caption>{}</caption>\n<thead><tr>",
      Text(caption_), sortable_ ? " class=\"sortable\"" : "", Text(caption_));
  const std::vector<bool> shown = ShownColumns();
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!shown[i]) continue;
    text += fmt::format("<th scope=\"col\"{}>{}</th>", columns_[i].number ? " class=\"n\"" : "",
                        Text(columns_[i].title));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const Row& row : rows_) text += RowText(row, shown);
  return text + "</tbody></table></div>\n";
}

std::string Folded(std::string_view title, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", Text(title), body);
}

std::string Time(double ns) { return Text(FormatValue(ns, Unit::kNanoseconds)); }

}  // namespace perfgate::html
