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

struct Known {
  std::string_view identifier;
  std::string_view word;
};

// Identifiers whose operator cannot be read off by rule.
constexpr Known kIdentifiers[] = {
    {"direct_copy_kernel_cuda", "copy"},
    {"bfloat16_copy_kernel_cuda", "copy"},
    {"float16_copy_kernel_cuda", "copy"},
    {"float8_copy_kernel_cuda", "copy"},
    {"bfloat16tofloat32_copy_kernel_cuda", "copy"},
    {"float16tofloat32_copy_kernel_cuda", "copy"},
    {"Copy", "copy"},
    {"CompareEqFunctor", "eq"},
    {"CompareFunctor", "compare"},
    {"launch_clamp_scalar", "clamp"},
    {"and_kernel_cuda", "all"},
    {"or_kernel_cuda", "any"},
    {"triu_tril_kernel", "tril"},
    {"NormTwoOps", "norm"},
    {"NormOneOps", "norm"},
    {"NormOps", "norm"},
    {"WelfordOps", "var"},
    {"ArgMaxOps", "argmax"},
    {"ArgMinOps", "argmin"},
    {"MaxOps", "max"},
    {"MinOps", "min"},
    {"FusedAdamMathFunctor", "_fused_adamw"},
    {"FusedSgdMathFunctor", "_fused_sgd"},
    {"FusedAdagradMathFunctor", "_fused_adagrad"},
    {"PointwiseOpScalarFunctor", "addcmul"},
    {"PointwiseOpListFunctor", "addcmul"},
    {"MaxNanFunctor", "max"},
    {"MinNanFunctor", "min"},
    {"LpNormFunctor", "norm"},
    {"GammaBetaBackwardCUDAKernelTemplate", "layer_norm_backward"},
    {"_cuda_scatter_gather_internal_kernel", "scatter_gather"},
    {"_scatter_gather_elementwise_kernel", "scatter_gather"},
    {"mse_kernel_cuda", "mse_loss"},
    {"mse_backward_cuda_kernel", "mse_loss_backward"},
    {"CatArrayBatchedCopy", "cat"},
    {"vectorized_gather_kernel", "index_select"},
    {"softmax_warp_forward", "softmax"},
    {"softmax_warp_backward", "softmax_backward"},
    {"cunn_SoftMaxForward", "softmax"},
    {"cunn_SoftMaxForwardSmem", "softmax"},
    {"cunn_SoftMaxForwardGmem", "softmax"},
    {"cunn_SoftMaxForwardReg", "softmax"},
    {"cunn_SoftMaxBackward", "softmax_backward"},
    {"cunn_SoftMaxBackwardSmem", "softmax_backward"},
    {"cunn_SpatialSoftMaxForward", "softmax"},
    {"GammaBetaBackwardCUDAKernel", "layer_norm_backward"},
    {"GammaBetaBackwardSimpleCUDAKernel", "layer_norm_backward"},
    {"cuComputeGradInput", "layer_norm_backward"},
    {"cuComputePartGradGammaBeta", "layer_norm_backward"},
    {"layer_norm_grad_input_kernel", "layer_norm_backward"},
    {"layer_norm_grad_input_kernel_vectorized", "layer_norm_backward"},
    {"RowwiseMomentsCUDAKernel", "layer_norm"},
    {"LayerNormForwardCUDAKernel", "layer_norm"},
    {"vectorized_layer_norm_kernel", "layer_norm"},
    {"batch_norm_transform_input_kernel", "batch_norm"},
    {"batch_norm_calc_invstd", "batch_norm"},
    {"batch_norm_collect_statistics_kernel", "batch_norm"},
    {"fused_dropout_kernel", "dropout"},
    {"fused_dropout_kernel_vec", "dropout"},
    {"indexSelectLargeIndex", "index_select"},
    {"indexSelectSmallIndex", "index_select"},
    {"index_elementwise_kernel", "index"},
    {"vectorized_index_kernel", "index"},
    {"embedding_backward_feature_kernel", "embedding_dense_backward"},
    {"compute_grad_weight", "embedding_dense_backward"},
    {"nll_loss_forward_reduce_cuda_kernel_2d", "nll_loss_forward"},
    {"nll_loss_backward_reduce_cuda_kernel_2d", "nll_loss_backward"},
    {"normal_and_transform", "normal"},
    {"uniform_and_transform", "uniform"},
    {"random_kernel", "random"},
    {"arange_cuda_out", "arange"},
    {"gatherTopK", "topk"},
    {"sbtopk", "topk"},
    {"mbtopk", "topk"},
    {"bitonicSortKVInPlace", "sort"},
    {"radixSortKVInPlace", "sort"},
    {"tensor_kernel_scan_innermost_dim", "cumsum"},
    {"tensor_kernel_scan_outer_dim", "cumsum"},
    {"max_pool_forward_nchw", "max_pool2d_with_indices"},
    {"max_pool_forward_nhwc", "max_pool2d_with_indices"},
    {"plus", "add"},
    {"multiplies", "mul"},
    {"divides", "div"},
    {"minus", "sub"},
};

std::string SnakeCase(std::string_view text) {
  std::string snake;
  for (char c : text) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) {
      if (!snake.empty() && snake.back() != '_') snake += '_';
      snake += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      snake += c;
    }
  }
  return snake;
}

// The operator that an identifier of ATen's sources names, or "".
std::string WordOf(std::string_view identifier) {
  for (const Known& known : kIdentifiers) {
    if (known.identifier == identifier) return std::string(known.word);
  }
  if (identifier.starts_with("CatArrayBatchedCopy")) return "cat";
  std::string_view stem = identifier;
  // By a prefix or suffix that ATen gives to functors and kernels, or by the spelling of a type:
  // at::native::Sqrt<float>.
  bool marked = !stem.empty() && std::isupper(static_cast<unsigned char>(stem[0])) != 0;
  for (std::string_view prefix : {"CUDAFunctor_", "CUDAFunctorOnSelf_", "CUDAFunctorOnOther_"}) {
    if (!stem.starts_with(prefix)) continue;
    stem.remove_prefix(prefix.size());
    marked = true;
  }
  for (bool again = true; again;) {
    again = false;
    for (std::string_view suffix :
         {"_kernel_cuda", "_cuda_kernel", "_kernel_impl",   "CUDAKernelImpl",
          "CUDAKernel",   "KernelImpl",   "Kernel",         "_kernel",
          "_out_frame",   "Functor",      "_functor",       "_cuda",
          "_impl",        "Ops",          "_scalar",        "_tensor",
          "_out",         "_vectorized",  "_tensor_scalar", "_opmath"}) {
      if (stem.size() <= suffix.size() || !stem.ends_with(suffix)) continue;
      stem.remove_suffix(suffix.size());
      marked = again = true;
    }
  }
  if (!marked) return "";
  std::string snake = SnakeCase(stem);
  if (snake.starts_with("_") && FindOperator(snake) == nullptr) snake.erase(0, 1);
  const OperatorFacts* facts = FindOperator(snake);
  if (facts == nullptr || facts->kind == OperatorKind::kView) return "";
  return OperatorWord(snake);
}

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
    std::string word = end - at > 80 ? "" : WordOf(text.substr(at, end - at));
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
  for (std::string_view launcher :
       {"elementwise_kernel", "vectorized_elementwise_kernel", "unrolled_elementwise_kernel",
        "legacy_elementwise_kernel", "elementwise_kernel_with_index", "reduce_kernel",
        "distribution_elementwise_grid_stride_kernel", "multi_tensor_apply_kernel",
        "elementwise_kernel_manual_unroll", "vectorized_templated_elementwise_kernel",
        "index_elementwise_kernel"}) {
    if (launcher == function) return true;
  }
  return false;
}

bool IsAtenOnly(std::string_view function) {
  return function.starts_with("softmax_warp_") || function.starts_with("cunn_SoftMax") ||
         function.starts_with("CatArrayBatchedCopy");
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
