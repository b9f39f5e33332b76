#include "judge/selector.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace perfgate {
namespace {

// Narrows `selection` by one more answer.
void And(Selection& selection, Answer3 answer, std::string_view field) {
  if (answer >= selection.answer) return;
  selection.answer = answer;
  selection.field = field;
}

Answer3 Is(bool yes) { return yes ? Answer3::kYes : Answer3::kNo; }

bool MatchesOne(const std::vector<std::string>& globs, std::string_view text) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return MatchesGlob(glob, text); });
}

void AndText(Selection& selection, const std::vector<std::string>& globs, const std::string& text,
             std::string_view field) {
  if (globs.empty()) return;
  And(selection, text.empty() ? Answer3::kUnknown : Is(MatchesOne(globs, text)), field);
}

// Any operator of "aten::linear > aten::addmm".
Answer3 IsUnder(const std::string& glob, std::string_view path) {
  if (path.empty()) return Answer3::kUnknown;
  const std::vector<std::string_view> elements = PathElements(path);
  return Is(std::any_of(elements.begin(), elements.end(),
                        [&](std::string_view element) { return MatchesGlob(glob, element); }));
}

Answer3 HoldsAll(const std::vector<std::string>& wanted, const std::vector<std::string>* ops) {
  if (!ops) return Answer3::kUnknown;
  return Is(std::all_of(wanted.begin(), wanted.end(), [&](const std::string& op) {
    return std::find(ops->begin(), ops->end(), op) != ops->end();
  }));
}

void AddPart(std::vector<std::string>& parts, std::string_view key,
             const std::vector<std::string>& values) {
  if (!values.empty()) parts.push_back(fmt::format("{} {}", key, Join(values, "|")));
}

// `glob` may name a kernel as the profiler does, by its canonical name, or by its function alone,
// without the parameters that tell overloads apart.
bool Names(const std::string& glob, const KernelRow& row) {
  std::string_view canonical = row.info.canonical;
  if (MatchesGlob(glob, row.name) || MatchesGlob(glob, canonical)) return true;
  return canonical.find('<') == std::string_view::npos &&
         MatchesGlob(glob, canonical.substr(0, canonical.find('(')));
}

}  // namespace

Selection Select(const KernelSelector& selector, const KernelRow& row,
                 const std::map<std::string, std::vector<std::string>>& covers) {
  Selection selection;
  const KernelInfo& info = row.info;
  if (!selector.family.empty()) {
    const auto& list = selector.family;
    And(selection, Is(std::find(list.begin(), list.end(), info.family) != list.end()), "family");
  }
  if (!selector.name.empty()) {
    And(selection, Is(Names(selector.name, row)), "name");
  }
  if (selection.answer == Answer3::kNo) return selection;
  if (!selector.under.empty()) And(selection, IsUnder(selector.under, row.op_path), "under");
  AndText(selection, selector.in_dtype, info.in_dtype, "in_dtype");
  AndText(selection, selector.out_dtype, info.out_dtype, "out_dtype");
  AndText(selection, selector.library, info.library, "library");
  AndText(selection, selector.epilogue, info.epilogue, "epilogue");
  AndText(selection, selector.layout, info.layout, "layout");
  if (!selector.ops.empty()) {
    And(selection, HoldsAll(selector.ops, OperatorsOf(row, covers)), "ops");
  }
  if (selector.tensor_core) {
    And(selection,
        info.tensor_core == TensorCore::kUnknown
            ? Answer3::kUnknown
            : Is((info.tensor_core == TensorCore::kYes) == *selector.tensor_core),
        "tensor_core");
  }
  if (selector.split_k) And(selection, Is((info.split_k > 0) == *selector.split_k), "split_k");
  return selection;
}

const std::vector<std::string>* OperatorsOf(
    const KernelRow& row, const std::map<std::string, std::vector<std::string>>& covers) {
  for (const auto& [glob, ops] : covers) {
    if (Names(glob, row)) return &ops;
  }
  const bool says_nothing = row.info.ops.empty() && row.info.family == Family::kOther;
  return row.info.opaque || says_nothing ? nullptr : &row.info.ops;
}

std::string ToText(const KernelSelector& selector) {
  std::vector<std::string> parts;
  std::vector<std::string> families;
  for (const Family family : selector.family) families.emplace_back(ToString(family));
  AddPart(parts, "family", families);
  if (!selector.name.empty()) parts.push_back("name " + selector.name);
  if (!selector.under.empty()) parts.push_back("under " + selector.under);
  AddPart(parts, "in_dtype", selector.in_dtype);
  AddPart(parts, "out_dtype", selector.out_dtype);
  AddPart(parts, "library", selector.library);
  AddPart(parts, "epilogue", selector.epilogue);
  AddPart(parts, "layout", selector.layout);
  if (!selector.ops.empty()) parts.push_back("ops " + Join(selector.ops, "+"));
  if (selector.tensor_core) {
    parts.push_back(fmt::format("tensor_core {}", *selector.tensor_core));
  }
  if (selector.split_k) parts.push_back(fmt::format("split_k {}", *selector.split_k));
  return parts.empty() ? "all kernels" : Join(parts, ", ");
}

std::string ShownName(const KernelRow& row) {
  const std::string& name = row.info.short_name.empty() ? row.name : row.info.short_name;
  return name.size() <= 80 ? Printable(name) : Printable(name.substr(0, 80)) + "...";
}

}  // namespace perfgate
