// Types and literals inside mangled names.
#include <array>

#include "kernel/demangler.h"

namespace perfgate {
namespace {

std::string_view BuiltinType(char code) {
  constexpr std::string_view kCodes = "abcdefghijlmnostvwxyz";
  constexpr std::array<std::string_view, 21> kNames = {"signed char", "bool",
                                                       "char",        "double",
                                                       "long double", "float",
                                                       "__float128",  "unsigned char",
                                                       "int",         "unsigned int",
                                                       "long",        "unsigned long",
                                                       "__int128",    "unsigned __int128",
                                                       "short",       "unsigned short",
                                                       "void",        "wchar_t",
                                                       "long long",   "unsigned long long",
                                                       "..."};
  size_t at = kCodes.find(code);
  return at == std::string_view::npos ? "" : kNames[at];
}

}  // namespace

std::string Demangler::ReadExpression() {
  if (Peek() == 'L') return ReadLiteral();
  if (Take("ad")) return ReadAddress();
  if (Take("nt")) return "!(" + ReadLiteral() + ")";
  if (Peek() == 'T') return ReadTemplateParameter();
  Fail();
  return "";
}

std::string Demangler::ReadAddress() {
  bool nested = text_.substr(at_).starts_with("L_ZN");
  if (!nested) return "&(" + ReadLiteral() + ")";
  Expect("L_Z");
  Entity name;
  std::string function = ReadEncoding(true, &name);
  Expect("E");
  return name.is_template ? "&(" + function + ")" : "&" + name.text;
}

std::string Demangler::ReadLiteral() {
  Expect("L");
  if (Take("_Z")) {
    std::string function = ReadEncoding(true);
    Expect("E");
    return function;
  }
  char code = Peek();
  std::string type = ReadType().Text();
  std::string value = Take("n") ? "-" : "";
  size_t end = text_.find('E', at_);
  if (failed_ || end == std::string_view::npos) {
    Fail();
    return "";
  }
  value += text_.substr(at_, end - at_);
  at_ = end + 1;
  if (code == 'b' && (value == "0" || value == "1")) return value == "1" ? "true" : "false";
  constexpr std::string_view kSuffixed = "ijlmxy";
  constexpr std::array<std::string_view, 6> kSuffixes = {"", "u", "l", "ul", "ll", "ull"};
  size_t suffix = kSuffixed.find(code);
  if (suffix == std::string_view::npos) return "(" + type + ")" + value;
  return value + std::string(kSuffixes[suffix]);
}

Demangler::Declarator Demangler::Pointer(std::string_view sign) {
  Declarator piece = ReadType();
  if (piece.bare) {
    piece.left += " (" + std::string(sign);
    piece.right = ")" + piece.right;
    piece.bare = false;
  } else {
    piece.left += sign;
  }
  return piece;
}

Demangler::Declarator Demangler::ReadFunctionType() {
  Take("Y");
  Declarator result = ReadType();
  result.right = "(" + ReadParameters() + ")" + result.right;
  result.bare = true;
  Expect("E");
  return result;
}

Demangler::Declarator Demangler::ReadArrayType() {
  size_t size = ReadNumber();
  Expect("_");
  Declarator element = ReadType();
  element.right = " [" + std::to_string(size) + "]" + element.right;
  element.bare = true;
  return element;
}

Demangler::Declarator Demangler::ReadQualified() {
  std::string qualifiers;
  while (Peek() == 'r' || Peek() == 'V' || Peek() == 'K') {
    char c = text_[at_++];
    qualifiers.insert(0, c == 'K' ? " const" : c == 'V' ? " volatile" : " restrict");
  }
  Declarator piece = ReadType();
  piece.left += qualifiers;
  return piece;
}

Demangler::Declarator Demangler::ReadMemberPointer() {
  std::string scope = ReadType().Text() + "::";
  Declarator piece = Pointer("*");
  size_t star = piece.left.rfind('*');
  piece.left.insert(star, (star > 0 && piece.left[star - 1] == '(' ? "" : " ") + scope);
  return piece;
}

std::string Demangler::ReadLongBuiltin() {
  if (Take("Dh")) return "__fp16";
  if (Take("DF16b")) return "std::bfloat16_t";
  if (Take("DF")) return "_Float" + std::to_string(ReadNumber()) + (Take("_") ? "" : "x");
  if (Take("Dn")) return "decltype(nullptr)";
  if (Take("Di")) return "char32_t";
  if (Take("Ds")) return "char16_t";
  if (Take("Du")) return "char8_t";
  if (Take("Da")) return "auto";
  if (Take("DB") || Take("DU")) {
    std::string bits = std::to_string(ReadNumber());
    Expect("_");
    return "_BitInt(" + bits + ")";
  }
  if (Take("Dp")) return ReadType().Text();
  Fail();
  return "";
}

Demangler::Declarator Demangler::ReadVector() {
  std::string size = std::to_string(ReadNumber());
  Expect("_");
  return {ReadType().Text() + " __vector(" + size + ")", "", false};
}

Demangler::Declarator Demangler::ReadVendorQualified() {
  std::string qualifier = ReadSourceName();
  return {ReadType().Text() + " " + qualifier, "", false};
}

Demangler::Declarator Demangler::ReadCompound() {
  if (Take("P")) return Pointer("*");
  if (Take("R")) return Pointer("&");
  if (Take("O")) return Pointer("&&");
  if (Take("F")) return ReadFunctionType();
  if (Take("A")) return ReadArrayType();
  if (Take("M")) return ReadMemberPointer();
  if (Take("Dv")) return ReadVector();
  if (Take("u")) return {ReadSourceName(), "", false};
  if (Take("U")) return ReadVendorQualified();
  if (Take("C")) return {ReadType().Text() + " _Complex", "", false};
  if (Peek() == 'T') {
    Declarator parameter = {ReadTemplateParameter(), "", false};
    if (Peek() != 'I') return parameter;
    Remember(parameter);
    return {parameter.left + ReadArguments(nullptr), "", false};
  }
  return {ReadName().text, "", false};
}

Demangler::Declarator Demangler::ReadType() {
  if (++depth_ > kDeepest) Fail();
  Declarator piece;
  char c = Peek();
  if (std::string_view builtin = BuiltinType(c); !builtin.empty()) {
    ++at_;
    piece.left = builtin;
  } else if (c == 'D' && Peek(1) != 'v') {
    piece.left = ReadLongBuiltin();
  } else if (c == 'S' && Peek(1) != 't') {
    piece = ReadSubstitution();
    if (Peek() == 'I') {
      piece = {piece.Text() + ReadArguments(nullptr), "", false};
      Remember(piece);
    }
  } else {
    piece = c == 'r' || c == 'V' || c == 'K' ? ReadQualified() : ReadCompound();
    Remember(piece);
  }
  --depth_;
  return failed_ ? Declarator() : piece;
}

}  // namespace perfgate
