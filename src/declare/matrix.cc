#include "declare/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace perfgate {
namespace {

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || (c >= '0' && c <= '9'); }

bool IsName(std::string_view text) {
  return !text.empty() && IsNameStart(text[0]) && std::all_of(text.begin(), text.end(), IsNamePart);
}

// Calls `literal` for the text between placeholders and `placeholder` for each key.
void Scan(std::string_view text, const std::function<void(std::string_view)>& literal,
          const std::function<void(std::string_view)>& placeholder) {
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '{') {
      ++i;
      continue;
    }
    const bool escaped = text.substr(i, 2) == "{{";
    const size_t name = i + (escaped ? 2 : 1);
    size_t end = name;
    while (end < text.size() && IsNamePart(text[end])) ++end;
    const std::string_view close = escaped ? "}}" : "}";
    if (!IsName(text.substr(name, end - name)) || text.substr(end, close.size()) != close) {
      ++i;
      continue;
    }
    literal(text.substr(start, i - start));
    if (escaped) {
      literal(text.substr(i + 1, end - i));
    } else {
      placeholder(text.substr(name, end - name));
    }
    start = i = end + close.size();
  }
  literal(text.substr(start));
}

// A value must be readable in a case name and be selectable by a glob.
bool CheckValue(const Reader& item, std::vector<std::string>& values) {
  const auto text = item.Text();
  if (!text) return false;
  if (text->find_first_of(",=[]*?") != std::string::npos) {
    item.Fail(fmt::format("{} may not contain , = [ ] * ?, which case names and globs use",
                          Quoted(*text)));
    return false;
  }
  if (Printable(*text) != *text || text->size() > 200 || Trim(*text) != *text) {
    item.Fail(
        fmt::format("{} must be a printable text of at most 200 bytes without blanks around it",
                    Quoted(*text)));
    return false;
  }
  if (std::find(values.begin(), values.end(), *text) != values.end()) {
    item.Fail(fmt::format("{} is there twice", Quoted(*text)));
    return false;
  }
  values.push_back(*text);
  return true;
}

}  // namespace

std::vector<Params> ReadMatrix(const Reader* matrix) {
  if (!matrix) return {Params()};
  if (!matrix->IsMap() || matrix->value().members.empty()) {
    matrix->FailExpected("a mapping from names to lists of values");
    return {};
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;
  bool good = true;
  int64_t count = 1;
  for (const auto& [key, list] : matrix->Members()) {
    if (!IsName(key)) {
      matrix->FailAtKey(key, fmt::format("{} is no name: letters, digits and _ only", Quoted(key)));
      good = false;
    }
    std::vector<std::string> values;
    for (const Reader& item : list.Items()) good = CheckValue(item, values) && good;
    good = good && !values.empty();
    count =
        std::min(kMostCases + 1, count * static_cast<int64_t>(std::max<size_t>(1, values.size())));
    axes.emplace_back(key, std::move(values));
  }
  if (count > kMostCases) {
    matrix->Fail(fmt::format("makes more than {} cases", kMostCases));
    return {};
  }
  if (!good) return {};
  std::vector<Params> all = {Params()};
  for (const auto& [key, values] : axes) {
    std::vector<Params> longer;
    for (const Params& params : all) {
      for (const std::string& value : values) {
        longer.push_back(params);
        longer.back()[key] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::string CaseName(std::string_view workload, const Params& params) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : params) parts.push_back(key + "=" + value);
  return parts.empty() ? std::string(workload) : fmt::format("{}[{}]", workload, Join(parts, ","));
}

void CheckPlaceholders(const Reader& value, const Params& known, std::set<std::string>& used) {
  if (value.IsScalar()) {
    Scan(
        value.value().text, [](std::string_view) {},
        [&](std::string_view name) {
          const std::string key(name);
          if (known.contains(key)) {
            used.insert(key);
            return;
          }
          std::vector<std::string> names;
          for (const auto& [k, unused] : known) names.push_back(k);
          const std::string hint = names.empty() ? "; the workload has no matrix"
                                                 : Suggestion(key, names, "matrix keys");
          value.Fail(fmt::format("placeholder '{{{}}}' matches no key of the matrix{}", key, hint));
        });
  } else if (value.IsList() && !value.value().items.empty()) {
    for (const Reader& item : value.Items()) CheckPlaceholders(item, known, used);
  } else {
    for (const auto& [key, member] : value.Members()) CheckPlaceholders(member, known, used);
  }
}

bool HasPlaceholder(const Yaml& value) {
  bool found = false;
  Scan(
      value.text, [](std::string_view) {}, [&](std::string_view) { found = true; });
  for (const Yaml& item : value.items) found = found || HasPlaceholder(item);
  for (const Yaml::Member& member : value.members) found = found || HasPlaceholder(member.value);
  return found;
}

Yaml Substitute(const Yaml& value, const Params& params) {
  Yaml out = value;
  if (value.kind == YamlKind::kScalar) {
    out.text.clear();
    bool pure = false;
    Scan(
        value.text, [&](std::string_view text) { out.text += text; },
        [&](std::string_view name) {
          const auto found = params.find(std::string(name));
          pure = name.size() + 2 == value.text.size();
          if (found != params.end()) out.text += found->second;
        });
    if (pure) out.quoted = false;
  }
  for (Yaml& item : out.items) item = Substitute(item, params);
  for (Yaml::Member& member : out.members) member.value = Substitute(member.value, params);
  return out;
}

}  // namespace perfgate
