// Pieces of the HTML page. What comes from outside goes through Text; everything else in this
// folder that returns a string returns markup.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/evidence.h"
#include "judge/judge.h"

namespace perfgate::html {

// Text as content or as a quoted attribute: printable, without controls of the reading direction,
// `<`, `>`, `&` and both quotes escaped, at most kLongestText bytes of it.
std::string Text(std::string_view text);
inline constexpr size_t kLongestText = 2'000;
std::string Code(std::string_view text);  // a <code> that may break anywhere

struct Column {
  std::string_view title;
  bool number = false;  // aligned to the right
};

// A cell with the number that its column is sorted by, where the text does not say it.
struct Cell {
  std::string markup;
  std::optional<double> number{};
};

// A table with a caption that scrolls within the page. The first column holds the row's heading;
// another one that is empty in every row is left out.
class Table {
 public:
  // `sortable`: the page's script makes the headings buttons.
  Table(std::string_view caption, std::vector<Column> columns, bool sortable = false);
  void Add(std::vector<Cell> cells, std::string_view row_class = "");
  bool empty() const { return rows_.empty(); }
  std::string Take() const;  // "" without rows

 private:
  struct Row {
    std::vector<Cell> cells;
    std::string row_class;
  };

  std::vector<bool> ShownColumns() const;
  std::string RowText(const Row& row, const std::vector<bool>& shown) const;

  std::string caption_;
  std::vector<Column> columns_;
  bool sortable_;
  std::vector<Row> rows_;
};

// A heading and a body that a reader opens; "" for an empty body.
std::string Folded(std::string_view title, const std::string& body);

// "12.3 us"; times of evidence are doubles once they are per step.
std::string Time(double ns);

}  // namespace perfgate::html
