#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

// +1 where a bracket opens, -1 where one closes. `->`, `operator<` and the like are no brackets.
int BracketStep(std::string_view text, size_t at) {
  switch (text[at]) {
    case '(':
    case '{':
    case '[':
      return 1;
    case ')':
    case '}':
    case ']':
      return -1;
    case '<':
    case '>':
      break;
    default:
      return 0;
  }
  if (text[at] == '>' && at > 0 && text[at - 1] == '-') return 0;
  constexpr std::string_view kOperator = "operator";
  for (size_t back = 0; back < 2 && at >= back + kOperator.size(); ++back) {
    if (text.substr(at - back - kOperator.size(), kOperator.size()) == kOperator) return 0;
  }
  return text[at] == '<' ? 1 : -1;
}

// Where the parameter lists that end the text begin, or the text's size. The brackets of
// `operator()` are none.
size_t ParameterList(std::string_view text) {
  int depth = 0;
  size_t group = text.size();
  size_t group_end = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    int step = BracketStep(text, i);
    if (step > 0 && depth == 0 && text[i] == '(') {
      bool of_operator = text.substr(0, i).ends_with("operator");
      bool follows =
          group < text.size() && group_end > group &&
          text.substr(group_end, i - group_end).find_first_not_of(' ') == std::string_view::npos;
      if (of_operator) {
        group = text.size();
      } else if (!follows) {
        group = i;
      }
    }
    depth = std::max(0, depth + step);
    if (step < 0 && depth == 0 && text[i] == ')') group_end = i + 1;
  }
  bool ends_text = group < text.size() && group > 0 &&
                   (group_end == text.size() || group_end <= group);  // cut off: unclosed
  if (text.substr(std::min(group, text.size())).starts_with("(anonymous")) ends_text = false;
  return ends_text ? group : text.size();
}

}  // namespace

std::string_view WithoutSuffix(std::string_view name) {
  name = Trim(name);
  for (bool again = true; again;) {
    again = false;
    for (std::string_view suffix : {" [clone .kd]", ".kd"}) {
      if (!name.ends_with(suffix)) continue;
      name = Trim(name.substr(0, name.size() - suffix.size()));
      again = true;
    }
  }
  return name;
}

NameParts CutName(std::string_view name) {
  NameParts parts;
  parts.exact = Trim(name);
  std::string_view text = WithoutSuffix(name);
  while (text.ends_with(") const")) text.remove_suffix(6);
  size_t list = ParameterList(text);
  if (list < text.size()) {
    parts.parameters = text.substr(list + 1);
    if (parts.parameters.ends_with(')')) parts.parameters.remove_suffix(1);
  }
  text = Trim(text.substr(0, list));

  int depth = 0;
  size_t callee = 0;
  size_t function = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth = std::max(0, depth + BracketStep(text, i));
    if (depth > 0) continue;
    if (text[i] == ' ') callee = function = i + 1;
    if (text[i] == ':' && i > 0 && text[i - 1] == ':') function = i + 1;
  }
  parts.callee = text.substr(callee);
  std::string_view last = text.substr(function);
  size_t open = last.find('<');
  parts.function = last.substr(0, open);
  if (open != std::string_view::npos) {
    parts.arguments = last.substr(open + 1);
    if (parts.arguments.ends_with('>')) parts.arguments.remove_suffix(1);
  }
  return parts;
}

std::vector<std::string_view> SplitTopLevel(std::string_view text, char separator, size_t at_most) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size() && parts.size() < at_most; ++i) {
    depth = std::max(0, depth + BracketStep(text, i));
    if (depth == 0 && text[i] == separator) {
      parts.push_back(Trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (parts.size() < at_most && begin < text.size()) parts.push_back(Trim(text.substr(begin)));
  return parts;
}

std::string_view InsideTemplate(std::string_view text) {
  size_t open = text.find('<');
  if (open == std::string_view::npos) return "";
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += BracketStep(text, i);
    if (depth <= 0) return text.substr(open + 1, i - open - 1);
  }
  return text.substr(open + 1);
}

std::vector<std::string_view> Tokens(std::string_view text, size_t at_most) {
  std::vector<std::string_view> tokens;
  while (!text.empty() && tokens.size() < at_most) {
    size_t end = text.find('_');
    if (end != 0) tokens.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return tokens;
}

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsTile(std::string_view text) {
  int numbers = 0;
  while (!text.empty()) {
    size_t end = text.find('x');
    if (!IsDigits(text.substr(0, end))) return false;
    ++numbers;
    if (end == std::string_view::npos) return numbers >= 2;
    text.remove_prefix(end + 1);
  }
  return false;
}

int SmallNumber(std::string_view text) {
  if (!IsDigits(text) || text.size() > 6) return 0;
  int value = 0;
  for (char c : text) value = value * 10 + (c - '0');
  return value;
}

std::string_view DtypeOf(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 70> kTypes = {{
      {"c10::BFloat16", "bf16"},
      {"__nv_bfloat16", "bf16"},
      {"cutlass::bfloat16_t", "bf16"},
      {"bfloat16_t", "bf16"},
      {"BFloat16", "bf16"},
      {"bf16", "bf16"},
      {"c10::Half", "fp16"},
      {"__half", "fp16"},
      {"cutlass::half_t", "fp16"},
      {"half_t", "fp16"},
      {"half", "fp16"},
      {"Half", "fp16"},
      {"f16", "fp16"},
      {"fp16", "fp16"},
      {"float", "fp32"},
      {"f32", "fp32"},
      {"fp32", "fp32"},
      {"tf32", "tf32"},
      {"double", "fp64"},
      {"f64", "fp64"},
      {"c10::Float8_e4m3fn", "fp8_e4m3"},
      {"__nv_fp8_e4m3", "fp8_e4m3"},
      {"cutlass::float_e4m3_t", "fp8_e4m3"},
      {"e4m3", "fp8_e4m3"},
      {"c10::Float8_e5m2", "fp8_e5m2"},
      {"__nv_fp8_e5m2", "fp8_e5m2"},
      {"cutlass::float_e5m2_t", "fp8_e5m2"},
      {"e5m2", "fp8_e5m2"},
      {"long", "int64"},
      {"long long", "int64"},
      {"long int", "int64"},
      {"i64", "int64"},
      {"int", "int32"},
      {"i32", "int32"},
      {"int32", "int32"},
      {"s32", "int32"},
      {"short", "int16"},
      {"short int", "int16"},
      {"signed char", "int8"},
      {"i8", "int8"},
      {"int8", "int8"},
      {"s8", "int8"},
      {"unsigned char", "uint8"},
      {"u8", "uint8"},
      {"bool", "bool"},
      {"u32", "uint32"},
      {"__hip_bfloat16", "bf16"},
      {"hip_bfloat16", "bf16"},
      {"__bf16", "bf16"},
      {"std::bfloat16_t", "bf16"},
      {"ck::bhalf_t", "bf16"},
      {"_Float16", "fp16"},
      {"__fp16", "fp16"},
      {"cutlass::tfloat32_t", "tf32"},
      {"c10::Float8_e4m3fnuz", "fp8_e4m3"},
      {"__hip_fp8_e4m3", "fp8_e4m3"},
      {"__hip_fp8_e4m3_fnuz", "fp8_e4m3"},
      {"ck::f8_t", "fp8_e4m3"},
      {"ck::f8_fnuz_t", "fp8_e4m3"},
      {"ck::f8_ocp_t", "fp8_e4m3"},
      {"c10::Float8_e5m2fnuz", "fp8_e5m2"},
      {"ck::bf8_t", "fp8_e5m2"},
      {"ck::bf8_fnuz_t", "fp8_e5m2"},
      {"ck::bf8_ocp_t", "fp8_e5m2"},
      {"c10::Float4_e2m1fn_x2", "fp4"},
      {"ck::pk_i4_t", "int4"},
      {"c10::qint8", "int8"},
      {"c10::quint8", "uint8"},
      {"c10::qint32", "int32"},
      {"unsigned short", "uint16"},
  }};
  while (type.ends_with('*') || type.ends_with('&') || type.ends_with(' ')) type.remove_suffix(1);
  if (type.ends_with(" const")) type.remove_suffix(6);
  if (type.starts_with("const ")) type.remove_prefix(6);
  if (type.starts_with("c10::complex<float>")) return "complex64";
  if (type.starts_with("c10::complex<double>")) return "complex128";
  if (type.starts_with("c10::complex<c10::Half>")) return "complex32";
  for (const auto& [text, dtype] : kTypes) {
    if (text == type) return dtype;
  }
  return "";
}

}  // namespace perfgate
