// The canonical name: what stays when only spelling or numbering changes.
#include <algorithm>
#include <cctype>

#include "kernel/families.h"

namespace perfgate {
namespace {

bool IsBuiltinInteger(std::string_view type) {
  for (std::string_view known : {"int", "unsigned int", "long", "unsigned long", "long long",
                                 "unsigned long long", "short", "char", "unsigned char"}) {
    if (type == known) return true;
  }
  return false;
}

// Lambda counters tell functions of one source file apart. Where the innermost lambda has typed
// parameters, they only repeat the type and shift with source edits: dropped. Here they choose
// another function (tanh or erf; square, cube or root): kept.
bool CountersMatter(std::string_view name) {
  for (std::string_view chooser :
       {"GeluCUDAKernelImpl", "GeluBackwardCUDAKernelImpl", "pow_tensor_scalar_kernel_impl"}) {
    if (name.find(chooser) != std::string_view::npos) return true;
  }
  size_t last = name.rfind("{lambda(");
  if (last == std::string_view::npos) last = name.rfind("[lambda(");
  return last != std::string_view::npos && name.substr(last + 8).starts_with(")");
}

class Writer {
 public:
  explicit Writer(std::string_view text) : text_(text), keep_counters_(CountersMatter(text)) {}

  std::string Run() {
    out_.reserve(text_.size());
    while (at_ < text_.size()) Step();
    return std::move(out_);
  }

 private:
  bool Take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool AfterWord() const { return at_ > 0 && IsWordChar(text_[at_ - 1]); }

  void Step() {
    if (Take("(anonymous namespace)") || Take("<unnamed>")) {
      out_ += "{anon}";
    } else if (!AfterWord() && Take("at::detail::Array<")) {
      out_ += "std::array<";
    } else if (!AfterWord() && (Take("cask_cudnn_infer") || Take("cask_cudnn_train"))) {
      out_ += "cask_cudnn";
    } else if (!AfterWord() && (VersionNamespace() || InternalNamespace())) {
      return;
    } else if (text_[at_] == '#' || text_.substr(at_).starts_with("(instance ")) {
      Counter();
    } else if (text_[at_] == ' ') {
      Blank();
    } else if (text_[at_] == '(' && Cast()) {
      return;
    } else if (!AfterWord() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      Number();
    } else if (text_[at_] == '[' && text_.substr(at_).starts_with("[lambda(")) {
      out_ += '{';
      ++open_lambdas_;
      ++at_;
    } else if (text_[at_] == ']' && open_lambdas_ > 0) {
      out_ += '}';
      --open_lambdas_;
      ++at_;
    } else {
      out_ += text_[at_++];
    }
  }

  // "_INTERNAL_5cd812b1_7_Loss_cu_5b0651e1::", nvcc's name for what is internal to a file: hashes.
  bool InternalNamespace() {
    std::string_view rest = text_.substr(at_);
    if (!rest.starts_with("_INTERNAL_")) return false;
    size_t end = 0;
    while (end < rest.size() && IsWordChar(rest[end])) ++end;
    if (!rest.substr(end).starts_with("::")) return false;
    at_ += end + 2;
    return true;
  }

  // "CUB_200302_750_800_900_NS::": changes with the toolkit and the architectures it was built for.
  bool VersionNamespace() {
    std::string_view rest = text_.substr(at_);
    if (!rest.starts_with("CUB_") && !rest.starts_with("THRUST_") && !rest.starts_with("ROCPRIM_"))
      return false;
    size_t end = rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (end == std::string_view::npos || !rest.substr(end).starts_with("::")) return false;
    if (!rest.substr(0, end).ends_with("_NS")) return false;
    at_ += end + 2;
    return true;
  }

  // "#4" of Kineto's demangler, "(instance 4)" of Nsight's.
  void Counter() {
    bool instance = text_[at_] == '(';
    size_t begin = at_ + (instance ? 10 : 1);
    size_t end = begin;
    while (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end])) != 0) ++end;
    if (end == begin || (instance && (end == text_.size() || text_[end] != ')'))) {
      out_ += text_[at_++];
      return;
    }
    if (keep_counters_) out_.append("#").append(text_.substr(begin, end - begin));
    at_ = end + (instance ? 1 : 0);
  }

  // A blank stays only between two words.
  void Blank() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    bool words =
        !out_.empty() && IsWordChar(out_.back()) && at_ < text_.size() && IsWordChar(text_[at_]);
    if (words) out_ += ' ';
  }

  // "(int)4" -> "4", "(bool)1" -> "true". Casts to an enum stay.
  bool Cast() {
    std::string_view rest = text_.substr(at_, 32);
    size_t close = rest.find(')');
    if (close == std::string_view::npos || close + 1 >= rest.size()) return false;
    std::string_view type = rest.substr(1, close - 1);
    char next = rest[close + 1];
    if (type == "bool" && (next == '0' || next == '1')) {
      out_ += next == '1' ? "true" : "false";
      at_ += close + 2;
      return true;
    }
    if (!IsBuiltinInteger(type) || std::isdigit(static_cast<unsigned char>(next)) == 0)
      return false;
    at_ += close + 1;
    return true;
  }

  // "4096ul" -> "4096"; an address becomes 0xX.
  void Number() {
    if (text_.substr(at_).starts_with("0x")) {
      size_t end = at_ + 2;
      while (end < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[end])) != 0)
        ++end;
      if (end - at_ >= 8) {
        out_ += "0xX";
        at_ = end;
        return;
      }
    }
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      out_ += text_[at_++];
    }
    size_t end = at_;
    while (end < text_.size() && (text_[end] == 'u' || text_[end] == 'l')) ++end;
    if (end == text_.size() || !IsWordChar(text_[end])) at_ = end;
  }

  std::string_view text_;
  bool keep_counters_;
  size_t at_ = 0;
  int open_lambdas_ = 0;
  std::string out_;
};

std::string_view WithoutTrailingNumber(std::string_view text) {
  while (true) {
    size_t last = text.rfind('_');
    if (last == std::string_view::npos || last == 0 || !IsDigits(text.substr(last + 1)))
      return text;
    text.remove_suffix(text.size() - last);
  }
}

// "graph_7_cpp_fused_gelu_mul_0" -> "cpp_fused_gelu_mul".
std::string_view WithoutGraph(std::string_view text) {
  if (!text.starts_with("graph_")) return text;
  size_t end = text.find_first_not_of("0123456789", 6);
  if (end == std::string_view::npos || end == 6 || text[end] != '_') return text;
  return text.substr(end + 1);
}

// Overloads that are no templates differ in their parameters alone: "(float*)" for "(float const*,
// int)", "" where no tensor's type is said.
std::string TensorParameters(const NameParts& name) {
  if (name.callee.find('<') != std::string_view::npos) return "";
  std::string list;
  for (std::string_view parameter : SplitTopLevel(name.parameters, ',', 32)) {
    bool pointer = parameter.ends_with('*');
    std::string_view dtype = pointer ? DtypeOf(parameter) : "";
    if (dtype.empty()) continue;
    list += list.empty() ? "(" : ",";
    list += dtype;
    list += '*';
  }
  return list.empty() ? list : list + ")";
}

}  // namespace

std::string_view WithoutHash(std::string_view text) {
  if (text.size() <= 53 || !text.substr(text.size() - 53).starts_with("_c")) return text;
  std::string_view hash = text.substr(text.size() - 51);
  bool is_hash =
      hash.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567") == std::string_view::npos;
  return is_hash ? text.substr(0, text.size() - 53) : text;
}

std::string_view WithoutSpecialisation(std::string_view text) {
  while (true) {
    size_t last = text.rfind('_');
    if (last == std::string_view::npos || last == 0 || last + 2 >= text.size()) return text;
    std::string_view suffix = text.substr(last + 1);
    if (suffix[0] != '0' || suffix.find('d') == std::string_view::npos ||
        suffix.find_first_not_of("0123456789cde") != std::string_view::npos) {
      return text;
    }
    text.remove_suffix(text.size() - last);
  }
}

std::string CanonicalName(const NameParts& name) {
  // "Memcpy DtoD (Device -> Device)" has no parameter list.
  if (name.exact.starts_with("Memcpy ") || name.exact.starts_with("Memset")) {
    return std::string(name.exact);
  }
  if (name.exact.starts_with("aoti_torch_"))
    return std::string("aten::") += OperatorWord(name.exact);
  std::string_view callee = name.callee;
  bool plain = callee.find_first_of("<>(){}: ") == std::string_view::npos;
  std::string parameters = TensorParameters(name);
  if (!plain || !parameters.empty()) return Writer(callee).Run() + parameters;
  // A name without operators (triton_poi_fused_3) has nothing but its number.
  std::string_view unhashed = WithoutHash(WithoutGraph(callee));
  std::string_view unnumbered = WithoutTrailingNumber(WithoutSpecialisation(unhashed));
  bool generated =
      callee.starts_with("triton_") || callee.find("cpp_fused_") != std::string_view::npos;
  if (generated && unnumbered.find("_fused_") != std::string_view::npos)
    return std::string(unnumbered);
  if (generated) return std::string(unhashed);
  return std::string(WithoutSpecialisation(callee));
}

}  // namespace perfgate
