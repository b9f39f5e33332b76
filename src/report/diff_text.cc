#include "report/diff_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/layout.h"

namespace perfgate {
namespace {

std::string KernelLine(char sign, const ChangedKernel& kernel, const TextStyle& style) {
  const std::string name = Shorten(Safe(kernel.short_name), kTextNameWidth);
  std::string line = fmt::format("{} {}", sign, name);
  // A copy or a wait is no kernel: the text of its change has its count.
  if (kernel.count != 0 || kernel.time_ns != 0) {
    line = fmt::format("{} {:<{}}  {}", sign, name, kTextNameWidth, CountAndTime(kernel));
    if (!kernel.ops.empty()) line += "   " + Shorten(Safe(Join(kernel.ops, ", ")), 60);
  }
  return Paint(line, sign == '-' ? Ink::kRed : Ink::kGreen, style);
}

}  // namespace

std::string Paint(std::string_view text, Ink ink, const TextStyle& style) {
  if (!style.color) return std::string(text);
  static constexpr std::string_view kCodes[] = {"31", "32", "33", "1", "2"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<int>(ink)], text);
}

std::string JoinShort(const std::vector<std::string>& names, size_t width) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i == 0) {
      text = Shorten(names[0], width);
    } else if (text.size() + 2 + names[i].size() <= width) {
      text += ", " + names[i];
    } else {
      return text + fmt::format(" and {} more", names.size() - i);
    }
  }
  return text;
}

std::string ChangeLines(const Change& change, size_t indent, const TextStyle& style) {
  const std::string blanks(indent, ' ');
  std::string text;
  for (const ChangedKernel& kernel : change.base) {
    text += blanks + KernelLine('-', kernel, style) + "\n";
  }
  for (const ChangedKernel& kernel : change.head) {
    text += blanks + KernelLine('+', kernel, style) + "\n";
  }
  std::vector<std::string> rest;
  if (!change.operators.empty()) {
    rest.push_back("called by " + Safe(JoinShort(change.operators, 70)));
  }
  if (!change.places.empty()) {
    const size_t more = change.places.size() - 1;
    rest.push_back("in " + Shorten(Safe(change.places[0]), 70) +
                   (more == 0 ? "" : fmt::format(" and {}", Plural(more, "other place"))));
  }
  const bool sum = change.base.size() + change.head.size() > 1;  // else it stands above
  if (sum && change.time_ns != 0) rest.push_back(SignedTime(change.time_ns) + " a step");
  if (!rest.empty()) text += blanks + "  " + Join(rest, "; ") + "\n";
  return text;
}

std::string AnswerLines(const Diff& diff, size_t width) {
  std::string text;
  if (const std::string balance = TimeBalance(diff); !balance.empty()) {
    text += "  kernel time   " + Wrap(balance, width, 16) + "\n";
  }
  if (const std::string balance = CopyTimeBalance(diff); !balance.empty()) {
    text += "  copy time     " + Wrap(balance, width, 16) + "\n";
  }
  for (const Answer& answer : diff.answers) {
    if (answer.question.empty()) continue;
    text += "  " + Wrap(Safe(answer.question + " " + answer.answer), width, 4) + "\n";
  }
  if (!diff.base_bound.empty() && diff.base_bound != diff.head_bound) {
    text += "  bound before  " + Wrap(Safe(diff.base_bound), width, 16) + "\n";
    text += "  bound now     " + Wrap(Safe(diff.head_bound), width, 16) + "\n";
  } else if (!diff.head_bound.empty()) {
    text += "  bound by      " + Wrap(Safe(diff.head_bound), width, 16) + "\n";
  }
  return text;
}

std::string DiffAsText(const Diff& diff, const TextStyle& style) {
  std::string text;
  if (diff.changes.empty()) text += "  no change in kernels, copies or syncs\n";
  for (const Change& change : diff.changes) {
    text += "  " + Wrap(Safe(change.text), static_cast<size_t>(style.width), 4) + "\n";
    text += ChangeLines(change, 4, style);
  }
  text += AnswerLines(diff, static_cast<size_t>(std::max(style.width, 40)));
  return WithoutLogCommands(text);
}

}  // namespace perfgate
