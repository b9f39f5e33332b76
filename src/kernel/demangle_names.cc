// Names of the Itanium C++ ABI (itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling), printed as
// libstdc++ prints them. Kineto leaves names above 1024 characters mangled, and just those are
// refused by abi::__cxa_demangle of libstdc++, which shorter hostile names make allocate without
// bound. So this reads what kernels' names are made of, in bounded time, memory and depth, and says
// "not understood" to the rest.
#include <array>
#include <utility>

#include "kernel/demangler.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

std::string_view OperatorOf(std::string_view code) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kOperators = {{
      {"cl", "()"}, {"ix", "[]"}, {"pl", "+"},  {"mi", "-"},  {"ml", "*"},  {"dv", "/"},
      {"rm", "%"},  {"an", "&"},  {"or", "|"},  {"eo", "^"},  {"aS", "="},  {"pL", "+="},
      {"mI", "-="}, {"mL", "*="}, {"eq", "=="}, {"ne", "!="}, {"lt", "<"},  {"gt", ">"},
      {"le", "<="}, {"ge", ">="}, {"nt", "!"},  {"aa", "&&"}, {"oo", "||"}, {"pp", "++"},
  }};
  for (const auto& [known, text] : kOperators) {
    if (known == code) return text;
  }
  return "";
}

}  // namespace

std::string Demangler::Run() {
  if (!Take("_Z") || Peek() == 'T' || Peek() == 'G') return "";
  size_t begin = at_;
  Entity entity = ReadName();
  if (failed_) return "";
  if (entity.is_template || AtEnd()) return entity.text;
  at_ = begin;
  substitutions_.clear();
  std::string text = ReadEncoding(false);
  return failed_ ? "" : text;
}

void Demangler::Fail() {
  failed_ = true;
  at_ = text_.size();
}

bool Demangler::Spend(size_t characters) {
  spent_ += characters;
  if (spent_ > kMostCharacters) Fail();
  return !failed_;
}

bool Demangler::AtEnd() const {
  return at_ >= text_.size() || Peek() == 'E' || Peek() == '.' || Peek() == '@';
}

void Demangler::Remember(const Declarator& piece) {
  if (Spend(piece.left.size() + piece.right.size())) substitutions_.push_back(piece);
}

size_t Demangler::ReadNumber() {
  size_t number = 0;
  if (!PeekDigit()) Fail();
  while (PeekDigit() && number < kLongest) number = number * 10 + (text_[at_++] - '0');
  if (number >= kLongest) Fail();
  return number;
}

size_t Demangler::ReadSequence(size_t base) {
  if (Take("_")) return 0;
  size_t number = 0;
  while (!failed_ && !Take("_")) {
    char c = Peek();
    size_t digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
    if (digit >= base || number > kLongest) {
      Fail();
    } else {
      number = number * base + digit;
      ++at_;
    }
  }
  return number + 1;
}

Demangler::Declarator Demangler::ReadSubstitution() {
  Expect("S");
  static constexpr std::array<std::pair<char, std::string_view>, 7> kStandard = {
      {{'t', "std"},
       {'a', "std::allocator"},
       {'b', "std::basic_string"},
       {'s', "std::string"},
       {'i', "std::istream"},
       {'o', "std::ostream"},
       {'d', "std::iostream"}}};
  for (const auto& [code, name] : kStandard) {
    if (Peek() != code) continue;
    ++at_;
    return {std::string(name), "", false};
  }
  size_t index = ReadSequence(36);
  if (index >= substitutions_.size()) Fail();
  if (failed_) return {};
  const Declarator& piece = substitutions_[index];
  if (!Spend(piece.left.size() + piece.right.size())) return {};
  return piece;
}

std::string Demangler::ReadTemplateParameter() {
  Expect("T");
  size_t index = ReadSequence(10);
  if (in_lambda_) return "auto:" + std::to_string(index + 1);
  if (index >= arguments_.size()) Fail();
  if (failed_ || !Spend(arguments_[index].size())) return "";
  return arguments_[index];
}

std::string Demangler::ReadSourceName() {
  size_t length = ReadNumber();
  if (failed_ || length == 0 || length > text_.size() - at_) {
    Fail();
    return "";
  }
  std::string_view name = text_.substr(at_, length);
  at_ += length;
  if (name.starts_with("_GLOBAL_") && name.substr(8, 2).ends_with("N")) {
    return "(anonymous namespace)";
  }
  return std::string(name);
}

std::string Demangler::ReadParameters() {
  if (Peek() == 'v') {
    ++at_;
    return "";
  }
  std::string text;
  while (!AtEnd()) Append(ReadType().Text(), &text);
  return text;
}

void Demangler::Append(const std::string& item, std::string* list) {
  if (!Spend(item.size()) || item.empty()) return;
  if (!list->empty()) *list += ", ";
  *list += item;
}

std::string Demangler::ReadLambda() {
  bool outer = std::exchange(in_lambda_, true);
  std::string text = "{lambda(" + ReadParameters() + ")#";
  in_lambda_ = outer;
  Expect("E");
  return text + std::to_string(ReadSequence(10) + 1) + "}";
}

std::string Demangler::ReadUnqualified() {
  Take("L");
  std::string name;
  if (PeekDigit()) {
    name = ReadSourceName();
  } else if (Take("Ul")) {
    name = ReadLambda();
  } else if (Take("Ut")) {
    name = "{unnamed type#" + std::to_string(ReadSequence(10) + 1) + "}";
  } else if (Take("cv")) {
    name = "operator " + ReadType().Text();
  } else if (std::string_view text = OperatorOf(text_.substr(at_, 2)); !text.empty()) {
    at_ += 2;
    name = "operator" + std::string(text);
  } else {
    Fail();
  }
  while (Take("B")) name += "[abi:" + ReadSourceName() + "]";
  return name;
}

std::string Demangler::ReadArguments(std::vector<std::string>* each) {
  Expect("I");
  std::string text;
  while (!failed_ && !Take("E")) {
    std::string argument = ReadArgument();
    Append(argument, &text);
    if (each != nullptr) each->push_back(std::move(argument));
  }
  return "<" + text + (text.ends_with('>') ? " >" : ">");
}

std::string Demangler::ReadArgument() {
  if (++depth_ > kDeepest) Fail();
  std::string text;
  if (Peek() == 'L') {
    text = ReadLiteral();
  } else if (Take("X")) {
    text = ReadExpression();
    Expect("E");
  } else if (Take("J")) {
    while (!failed_ && !Take("E")) Append(ReadArgument(), &text);
  } else {
    text = ReadType().Text();
  }
  --depth_;
  return text;
}

Demangler::Entity Demangler::ReadName() {
  if (++depth_ > kDeepest) Fail();
  Entity entity = Take("N") ? ReadNested() : Take("Z") ? ReadLocal() : ReadUnscoped();
  --depth_;
  return entity;
}

Demangler::Entity Demangler::ReadUnscoped() {
  Entity entity;
  if (Peek() == 'S' && Peek(1) != 't') {
    entity.text = ReadSubstitution().Text();
  } else {
    if (Take("St")) entity.text = "std::";
    entity.text += ReadUnqualified();
    if (Peek() == 'I') Remember({entity.text, "", false});
  }
  if (Peek() == 'I') {
    entity.is_template = true;
    entity.text += ReadArguments(&entity.arguments);
  }
  return entity;
}

Demangler::Entity Demangler::ReadNested() {
  Entity entity;
  while (Peek() == 'r' || Peek() == 'V' || Peek() == 'K') {
    if (text_[at_++] == 'K') entity.qualifiers = " const";
  }
  std::string last;
  while (!failed_ && !Take("E")) {
    bool remembered = false;
    if (Peek() == 'S') {
      remembered = true;
      entity.text = ReadSubstitution().Text();
    } else if (Peek() == 'T') {
      entity.text = ReadTemplateParameter();
    } else if (Peek() == 'I') {
      entity.arguments.clear();
      entity.text += ReadArguments(&entity.arguments);
    } else {
      bool constructor = (Peek() == 'C' || Peek() == 'D') && Peek(1) >= '0' && Peek(1) <= '5';
      if (!constructor) last = ReadUnqualified();
      std::string name = constructor && Peek() == 'D' ? "~" + last : last;
      if (constructor) at_ += 2;
      if (!entity.text.empty()) entity.text += "::";
      entity.text += name;
      entity.arguments.clear();
    }
    if (!remembered && Peek() != 'E') Remember({entity.text, "", false});
  }
  entity.is_template = !entity.arguments.empty();
  return entity;
}

Demangler::Entity Demangler::ReadLocal() {
  std::string around = ReadEncoding(false);
  Expect("E");
  Entity entity;
  if (Take("s")) {
    entity.text = "string literal";
  } else {
    entity = ReadName();
  }
  if (Take("__")) {
    ReadNumber();
    Expect("_");
  } else if (Take("_")) {
    ReadNumber();
  }
  if (Spend(around.size() + entity.text.size())) entity.text = around + "::" + entity.text;
  return entity;
}

std::string Demangler::ReadEncoding(bool with_result, Entity* name) {
  if (++depth_ > kDeepest) Fail();
  Entity entity = ReadName();
  std::string text = entity.text;
  if (!AtEnd()) {
    arguments_.swap(entity.arguments);
    std::string result = entity.is_template ? ReadType().Text() + " " : "";
    std::string parameters = ReadParameters();
    arguments_.swap(entity.arguments);
    if (with_result) text = result + text;
    text += "(" + parameters + ")" + entity.qualifiers;
    Spend(text.size());
  }
  if (name != nullptr) *name = std::move(entity);
  --depth_;
  return text;
}

std::string Demangled(std::string_view name) {
  if (!name.starts_with("_Z") || name.size() > Demangler::kLongest) return "";
  return Demangler(name).Run();
}

}  // namespace perfgate
