// Kernels of ATen: a launcher template (vectorized_elementwise_kernel, reduce_kernel, ...) around a
// functor or a lambda whose name holds the operator.
#include <array>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

// How much of a name is looked at for words: real names repeat themselves long before.
constexpr size_t kLookAt = 4096;

// The first identifier of `text` that names an operator.
std::string FirstWord(std::string_view text) {
  text = text.substr(0, kLookAt);
  for (size_t at = 0; at < text.size();) {
    if (!IsWordChar(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && IsWordChar(text[end])) ++end;
    std::string word = end - at > 80 ? "" : AtenWord(text.substr(at, end - at));
    if (!word.empty()) return word;
    at = end;
  }
  return "";
}

// Dtypes of the innermost lambda's parameters: "{lambda(bool, float, float)#1}" gives fp32.
std::string_view LambdaDtype(std::string_view text) {
  size_t last = text.rfind("lambda(");
  if (last == std::string_view::npos) return "";
  size_t close = text.find(')', last);
  if (close == std::string_view::npos) return "";
  // Launchers wrap a functor in a lambda of the element's index.
  bool index = text.substr(last, close - last) == "lambda(int" &&
               !text.substr(0, last).ends_with(" const::{");
  if (index) return "";
  std::string_view found;
  for (std::string_view type : SplitTopLevel(text.substr(last + 7, close - last - 7), ',', 8)) {
    std::string_view dtype = DtypeOf(type);
    if (found.empty() || found == "bool") found = dtype;
  }
  return found;
}

// "at::native::BinaryFunctor<bf16, bf16, bf16, Op>" -> {"bf16", "bf16", "bf16"}.
std::vector<std::string_view> ArgumentDtypes(std::string_view functor) {
  std::vector<std::string_view> dtypes;
  for (std::string_view argument : SplitTopLevel(InsideTemplate(functor), ',', 16)) {
    std::string_view dtype = DtypeOf(argument);
    if (!dtype.empty()) dtypes.push_back(dtype);
  }
  return dtypes;
}

// The template argument that holds the functor: the first that is no number and no wrapper.
std::string_view Functor(std::string_view arguments) {
  for (std::string_view argument : SplitTopLevel(arguments, ',', 16)) {
    if (argument.empty() || IsDigits(argument) || argument[0] == '(') continue;
    if (argument.find("::") == std::string_view::npos) continue;
    if (argument.find("TensorListMetadata") != std::string_view::npos) continue;
    if (!DtypeOf(argument).empty() || argument.starts_with("std::array<")) continue;
    constexpr std::string_view kWrapper = "gpu_kernel_impl";
    size_t wrapper = argument.substr(0, 64).find(kWrapper);
    if (wrapper == std::string_view::npos) return argument;
    return Functor(InsideTemplate(argument).substr(0, kLookAt));
  }
  return "";
}

void ElementTypes(std::string_view functor, KernelInfo* info) {
  std::vector<std::string_view> dtypes = ArgumentDtypes(functor);
  std::string_view lambda = LambdaDtype(functor);
  bool binary = functor.find("UnaryFunctor<") != std::string_view::npos ||
                functor.find("BinaryFunctor<") != std::string_view::npos;
  if (functor.find("ReduceOp<") != std::string_view::npos) {
    if (dtypes.size() >= 2) {
      info->in_dtype = dtypes.front();
      info->out_dtype = dtypes.back();
    }
    return;
  }
  if (binary && dtypes.size() >= 3) {
    info->in_dtype = dtypes[0];
    info->out_dtype = dtypes[2];
  } else if (!lambda.empty()) {
    info->in_dtype = info->out_dtype = lambda;
  } else if (!dtypes.empty()) {
    info->in_dtype = info->out_dtype = dtypes[0];
  }
  if (functor.find("bfloat16_copy_kernel_cuda") != std::string_view::npos) info->out_dtype = "bf16";
  if (functor.find("float8_copy_kernel_cuda") != std::string_view::npos) info->out_dtype = "fp8";
  if (functor.find("float16_copy_kernel_cuda") != std::string_view::npos &&
      functor.find("bfloat16_copy") == std::string_view::npos) {
    info->out_dtype = "fp16";
  }
}

// Kernels that name their types as template arguments: softmax_warp_forward<in, out, acc, ...>.
void ArgumentTypes(const NameParts& name, KernelInfo* info) {
  std::vector<std::string_view> dtypes;
  for (std::string_view argument : SplitTopLevel(name.arguments, ',', 16)) {
    std::string_view dtype = DtypeOf(argument);
    if (!dtype.empty()) dtypes.push_back(dtype);
  }
  bool index_only = name.function.find("gather") != std::string_view::npos;
  if (dtypes.empty() || index_only) return;
  info->in_dtype = info->out_dtype = dtypes[0];
  bool warp = name.function.starts_with("softmax_warp");
  bool block = name.function.starts_with("cunn_SoftMax");
  if (warp && dtypes.size() >= 2) info->out_dtype = dtypes[1];
  if (block && dtypes.size() >= 3) info->out_dtype = dtypes[2];
}

bool IsLauncher(std::string_view function) {
  return function.find("elementwise_kernel") != std::string_view::npos ||
         function.starts_with("kernelPointwiseApply") || function == "reduce_kernel" ||
         function == "multi_tensor_apply_kernel";
}

// Names that only ATen has, outside of its namespaces.
bool IsAtenOnly(std::string_view function) {
  for (std::string_view prefix :
       {"softmax_warp_", "cunn_", "CatArrayBatchedCopy", "indexSelectLargeIndex",
        "indexSelectSmallIndex", "indexAddLargeIndex", "indexAddSmallIndex",
        "indexing_backward_kernel", "randperm_handle_duplicate_keys"}) {
    if (function.starts_with(prefix)) return true;
  }
  return false;
}

// What template arguments say beyond the identifier.
std::string Refined(const NameParts& name, std::string word) {
  std::vector<std::string_view> arguments = SplitTopLevel(name.arguments, ',', 8);
  if (name.function == "vectorized_layer_norm_kernel" && arguments.size() >= 3 &&
      arguments[2] == "true") {
    return "rms_norm";
  }
  if (name.function.starts_with("softmax_warp_") && arguments.size() >= 5 &&
      arguments[4] == "true") {
    return "log_" + word;
  }
  if (word == "softmax" && name.arguments.find("LogSoftMax") != std::string_view::npos) {
    return "log_softmax";
  }
  bool divides = name.arguments.find("std::divides") != std::string_view::npos;
  if (name.function == "multi_tensor_apply_kernel" && divides &&
      name.arguments.find("PointwiseOp") != std::string_view::npos) {
    return "addcdiv";
  }
  if (name.function.ends_with("_dim_with_indices")) {
    bool smaller = name.arguments.find("less_equal") != std::string_view::npos;
    return smaller ? "cummin" : "cummax";
  }
  if (name.function.starts_with("indexFunc") &&
      name.callee.find("ReduceAdd") == std::string_view::npos) {
    return "index_reduce";
  }
  if (word == "_fused_adamw" && name.arguments.find("ADAM_MODE)0") != std::string_view::npos) {
    return "_fused_adam";
  }
  return word;
}

Family FamilyOf(std::string_view function, const std::vector<std::string>& ops) {
  if (function == "reduce_kernel") return Family::kReduction;
  if (ops.empty()) return Family::kOther;
  if (const OperatorFacts* facts = FindOperator(ops[0])) return facts->family;
  return Family::kPointwise;
}

void LabelAten(std::string_view function, bool tanh, KernelInfo* info) {
  std::string label = info->ops.empty() ? std::string(function.substr(0, 40)) : info->ops[0];
  if (label.starts_with('_')) label.erase(0, 1);
  if (tanh) label += " tanh";
  if (!info->in_dtype.empty() && info->in_dtype != info->out_dtype) {
    label += " " + info->in_dtype + "->" + info->out_dtype;
  } else if (!info->out_dtype.empty()) {
    label += " " + info->out_dtype;
  }
  info->short_name = label;
}

}  // namespace

bool DecodeAten(const NameParts& name, KernelInfo* info) {
  // Some of ATen's kernels stand in an anonymous namespace outside of it. A user's `add_kernel` may
  // too, so there only names count that nobody else has.
  bool ours = name.callee.starts_with("at::native::") || name.callee.starts_with("at::cuda::");
  if (!ours && !IsLauncher(name.function) && !IsAtenOnly(name.function)) return false;
  info->library = "aten";
  std::string word;
  if (IsLauncher(name.function)) {
    std::string_view functor = Functor(name.arguments);
    word = FirstWord(functor);
    if (word.empty() || name.function == "multi_tensor_apply_kernel") {
      std::string wider = FirstWord(name.arguments);
      if (!wider.empty()) word = wider;
    }
    ElementTypes(functor, info);
    // A cast on load: the source's type is not in the name.
    if (name.arguments.find("LoadWithCast") != std::string_view::npos && word == "copy") {
      info->in_dtype.clear();
    }
  } else {
    word = FirstWord(name.function);
    if (word.empty()) word = FirstWord(name.callee);
    ArgumentTypes(name, info);
  }
  info->opaque = word.empty();
  if (!word.empty()) word = Refined(name, std::move(word));
  if (!word.empty()) info->ops = {word};
  info->family = FamilyOf(name.function, info->ops);
  bool elementwise = name.function.find("elementwise") != std::string_view::npos;
  if (elementwise && !word.empty() &&
      (info->family == Family::kOther || info->family == Family::kReduction)) {
    info->family = Family::kPointwise;
  }
  // The first branch of GELU's sources is the tanh approximation, the second is erf.
  bool tanh = word.starts_with("gelu") &&
              name.arguments.find("GeluType)::{lambda()#1}") != std::string_view::npos;
  LabelAten(name.function, tanh, info);
  return true;
}

}  // namespace perfgate
