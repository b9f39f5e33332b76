// The reader of mangled names behind Demangled(). Private to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perfgate {

class Demangler {
 public:
  static constexpr size_t kLongest = 16'384;  // characters of a mangled name

  explicit Demangler(std::string_view text) : text_(text) {}

  // The demangled name, "" if it is not understood. Without the parameters of a template, whose
  // arguments say its types; another function's parameters may tell overloads apart.
  std::string Run();

 private:
  static constexpr size_t kMostCharacters = 1 << 20;  // of all texts made on the way
  static constexpr int kDeepest = 128;

  // A type around what it declares: "void (*" and ")(int)".
  struct Declarator {
    std::string left, right;
    bool bare = false;  // a function or an array: `*` and `&` need brackets

    std::string Text() const { return left + right; }
  };

  struct Entity {
    std::string text;
    std::string qualifiers;              // " const" of a member function
    bool is_template = false;            // ends with template arguments
    std::vector<std::string> arguments;  // those, for T_ in the signature
  };

  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  bool Take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool PeekDigit() const { return Peek() >= '0' && Peek() <= '9'; }

  void Expect(std::string_view word) {
    if (!Take(word)) Fail();
  }

  void Fail();
  bool Spend(size_t characters);
  // Where an encoding ends: "E" of what is around it, the end, ".kd" and other suffixes.
  bool AtEnd() const;
  void Remember(const Declarator& piece);
  size_t ReadNumber();
  // "_" is 0, "0_" is 1, ...; base 36 in substitutions, else 10.
  size_t ReadSequence(size_t base);
  Declarator ReadSubstitution();
  std::string ReadTemplateParameter();
  std::string ReadSourceName();
  // Types of a signature until it ends: "int, float", "" for `v`.
  std::string ReadParameters();
  // An empty pack leaves no comma.
  void Append(const std::string& item, std::string* list);
  std::string ReadLambda();
  std::string ReadUnqualified();
  std::string ReadArguments(std::vector<std::string>* each);
  std::string ReadArgument();
  std::string ReadExpression();
  // Of a function a::b: without its signature, unless that is what chooses it.
  std::string ReadAddress();
  std::string ReadLiteral();
  Entity ReadName();
  Entity ReadUnscoped();
  Entity ReadNested();
  Entity ReadLocal();
  // A function with its signature; its bare name in `*name`.
  std::string ReadEncoding(bool with_result, Entity* name = nullptr);
  Declarator Pointer(std::string_view sign);
  Declarator ReadFunctionType();
  Declarator ReadArrayType();
  Declarator ReadQualified();
  // "float (Class::*)(int)"
  Declarator ReadMemberPointer();
  // Types of two letters and more.
  std::string ReadLongBuiltin();
  Declarator ReadVector();
  Declarator ReadVendorQualified();
  // A type that may be referred to later.
  Declarator ReadCompound();
  Declarator ReadType();

  std::string_view text_;
  size_t at_ = 0;
  bool failed_ = false;
  bool in_lambda_ = false;
  int depth_ = 0;
  size_t spent_ = 0;
  std::vector<Declarator> substitutions_;
  std::vector<std::string> arguments_;
};

}  // namespace perfgate
