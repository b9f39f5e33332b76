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

void Table::Add(const std::vector<Cell>& cells, std::string_view row_class) {
  rows_ += row_class.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", row_class);
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string key =
        cells[i].number ? fmt::format(" data-key=\"{:.15g}\"", *cells[i].number) : "";
    const bool number = i < columns_.size() && columns_[i].number;
    if (i == 0) {
      rows_ += fmt::format("<th scope=\"row\"{}>{}</th>", key, cells[i].markup);
    } else {
      rows_ += fmt::format("<td{}{}>{}</td>", number ? " class=\"n\"" : "", key, cells[i].markup);
    }
  }
  rows_ += "</tr>\n";
}

std::string Table::Take() const {
  if (rows_.empty()) return "";
  // Who uses the keyboard scrolls a table that has the focus.
  std::string text = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n"
      "<table{}><caption>{}</caption>\n<thead><tr>",
      Text(caption_), sortable_ ? " class=\"sortable\"" : "", Text(caption_));
  for (const Column& column : columns_) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>", column.number ? " class=\"n\"" : "",
                        Text(column.title));
  }
  return text + "</tr></thead>\n<tbody>\n" + rows_ + "</tbody></table></div>\n";
}

std::string Folded(std::string_view title, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", Text(title), body);
}

std::string Time(double ns) { return Text(FormatValue(ns, Unit::kNanoseconds)); }

}  // namespace perfgate::html
