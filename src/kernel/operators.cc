#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

std::string_view WithoutNamespace(std::string_view name) {
  size_t colon = name.rfind("::");
  if (colon != std::string_view::npos) name.remove_prefix(colon + 2);
  for (std::string_view prefix :
       {"aoti_torch_cpu_", "aoti_torch_cuda_", "aoti_torch_proxy_executor_", "aoti_torch_"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    break;
  }
  return name;
}

// "mm_out" -> "mm", "gelu_" -> "gelu"; "__and__" stays.
std::string_view WithoutEnding(std::string_view word) {
  if (word.size() > 4 && word.ends_with("_out")) word.remove_suffix(4);
  if (word.size() > 1 && word.ends_with('_') && !word.ends_with("__")) word.remove_suffix(1);
  return word;
}

// Spellings of one operator.
std::string_view OneSpelling(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 57> kSame = {{
      {"_to_copy", "copy"},
      {"clone", "copy"},
      {"contiguous", "copy"},
      {"_softmax", "softmax"},
      {"_safe_softmax", "softmax"},
      {"_log_softmax", "log_softmax"},
      {"_softmax_backward_data", "softmax_backward"},
      {"_log_softmax_backward_data", "log_softmax_backward"},
      {"native_layer_norm", "layer_norm"},
      {"native_layer_norm_backward", "layer_norm_backward"},
      {"native_group_norm", "group_norm"},
      {"native_batch_norm", "batch_norm"},
      {"_native_batch_norm_legit", "batch_norm"},
      {"_native_batch_norm_legit_functional", "batch_norm"},
      {"_native_batch_norm_legit_no_training", "batch_norm"},
      {"cudnn_batch_norm", "batch_norm"},
      {"native_dropout", "dropout"},
      {"_fused_rms_norm", "rms_norm"},
      {"conv2d", "convolution"},
      {"cudnn_convolution", "convolution"},
      {"_convolution", "convolution"},
      {"mkldnn_convolution", "convolution"},
      {"miopen_convolution", "convolution"},
      {"miopen_depthwise_convolution", "convolution"},
      {"thnn_conv2d", "convolution"},
      {"_slow_conv2d_forward", "convolution"},
      {"_conv_depthwise2d", "convolution"},
      {"conv_depthwise3d", "convolution"},
      {"conv1d", "convolution"},
      {"conv3d", "convolution"},
      {"cudnn_convolution_transpose", "convolution"},
      {"native_group_norm_backward", "group_norm_backward"},
      {"native_batch_norm_backward", "batch_norm_backward"},
      {"cudnn_batch_norm_backward", "batch_norm_backward"},
      {"miopen_batch_norm", "batch_norm"},
      {"miopen_batch_norm_backward", "batch_norm_backward"},
      {"_batch_norm_with_update", "batch_norm"},
      {"batch_norm_elemt", "batch_norm"},
      {"batch_norm_stats", "batch_norm"},
      {"_fused_rms_norm_backward", "rms_norm_backward"},
      {"_fused_dropout", "dropout"},
      {"_masked_softmax", "softmax"},
      {"_masked_softmax_backward", "softmax_backward"},
      {"_adaptive_avg_pool2d", "adaptive_avg_pool2d"},
      {"_adaptive_avg_pool3d", "adaptive_avg_pool3d"},
      {"_adaptive_avg_pool2d_backward", "adaptive_avg_pool2d_backward"},
      {"_adaptive_avg_pool3d_backward", "adaptive_avg_pool3d_backward"},
      {"_embedding_bag", "embedding_bag"},
      {"_embedding_bag_forward_only", "embedding_bag"},
      {"_embedding_bag_backward", "embedding_bag_backward"},
      {"_weight_norm_interface", "weight_norm"},
      {"_weight_norm_interface_backward", "weight_norm_backward"},
      {"_cumsum", "cumsum"},
      {"_unique2", "unique"},
      {"_cudnn_rnn", "rnn"},
      {"miopen_rnn", "rnn"},
      {"lift_fresh_copy", "copy"},
  }};
  for (const auto& [spelling, one] : kSame) {
    if (spelling == word) return one;
  }
  return word;
}

bool IsCompilerRow(std::string_view name) {
  for (std::string_view prefix :
       {"TorchDynamo ", "Torch-Compiled Region", "Pregraph bytecode", "AOTDispatcher ",
        "AOTAutograd", "## Call CompiledFxGraph", "CompiledFxGraph", "CompiledFunction", "Inductor",
        "PyTorch Dynamo", "CompiledAutograd", "Compiled Autograd"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

// Rows of the autograd engine: they only call operators. "MulBackward0", "TBackward0".
bool IsAutogradRow(std::string_view name) {
  if (name.starts_with("autograd::engine::") || name.starts_with("torch::autograd::")) return true;
  size_t end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && end + 1 < name.size() &&
         name.substr(0, end + 1).ends_with("Backward") && name.find("::") == std::string_view::npos;
}

bool IsFusedRegion(std::string_view name) {
  size_t at = name.find("cpp_fused_");
  if (at != std::string_view::npos) return at == 0 || name[at - 1] == '_';
  return name.starts_with("triton_") && name.find("_fused_") != std::string_view::npos;
}

}  // namespace

OperatorKind ClassifyOperator(std::string_view name) {
  if (IsCompilerRow(name)) return OperatorKind::kCompiler;
  if (IsFusedRegion(name)) return OperatorKind::kFused;
  if (IsAutogradRow(name)) return OperatorKind::kMetadata;
  bool tensor_library = name.starts_with("aten::") || name.starts_with("aoti_torch_") ||
                        name.starts_with("prims::") || name.starts_with("quantized::") ||
                        name.starts_with("mkldnn::") || name.find("::") == std::string_view::npos;
  if (!tensor_library) {
    return name == "record_param_comms" ? OperatorKind::kMetadata : OperatorKind::kOther;
  }
  std::string_view bare = WithoutNamespace(name);
  const OperatorFacts* facts = FindOperator(bare);
  if (facts == nullptr) facts = FindOperator(WithoutEnding(bare));
  return facts == nullptr ? OperatorKind::kOther : facts->kind;
}

bool RunsOnGpuAlone(std::string_view name) {
  // `aten::cudnn_is_acceptable` is asked on any device.
  static constexpr std::array<std::string_view, 9> kStarts = {
      "aten::cudnn_convolution",     "aten::cudnn_batch_norm", "aten::_cudnn_rnn",
      "aten::_cudnn_attention_",     "aten::miopen_",          "aten::_flash_attention_",
      "aten::_efficient_attention_", "aten::_cslt_sparse_mm",  "triton_"};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [name](std::string_view start) { return name.starts_with(start); });
}

std::string OperatorWord(std::string_view name) {
  return std::string(OneSpelling(WithoutEnding(WithoutNamespace(name))));
}

std::vector<std::string> OperatorSet(std::string_view joined) {
  constexpr size_t kLongestWord = 64;
  constexpr size_t kMostWords = 256;
  std::vector<std::string> set;
  std::string unknown;  // pieces that the table does not know, as one word
  auto flush = [&] {
    if (!unknown.empty()) set.push_back(std::move(unknown));
    unknown.clear();
  };
  while (!joined.empty() && set.size() < kMostWords) {
    size_t best = 0;
    for (size_t end = 1; end <= std::min(joined.size(), kLongestWord); ++end) {
      bool ends_word = end == joined.size() || joined[end] == '_';
      if (ends_word && FindOperator(joined.substr(0, end)) != nullptr) best = end;
    }
    if (best > 0) {
      flush();
      const OperatorFacts* facts = FindOperator(joined.substr(0, best));
      if (facts->kind != OperatorKind::kView && facts->kind != OperatorKind::kMetadata &&
          facts->kind != OperatorKind::kAllocation) {
        set.emplace_back(OneSpelling(facts->word));
      }
    } else {
      best = joined.find('_', 1);
      if (best == std::string_view::npos) best = joined.size();
      if (!unknown.empty()) unknown += '_';
      unknown += joined.substr(0, best);
    }
    joined.remove_prefix(std::min(joined.size(), best + 1));
  }
  flush();
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

// An operator row of the CPU: "aten::addmm", "aoti_torch_cpu_mm_out", "mkldnn::_linear_pointwise".
bool DecodeOperatorCall(const NameParts& name, KernelInfo* info) {
  std::string_view exact = name.exact;
  bool call = exact.starts_with("aten::") || exact.starts_with("aoti_torch_");
  if (!call || exact.find_first_of("<>(){} ") != std::string_view::npos) return false;
  std::string word = OperatorWord(exact);
  const OperatorFacts* facts = FindOperator(WithoutEnding(WithoutNamespace(exact)));
  if (facts == nullptr) facts = FindOperator(word);
  info->library = "aten";
  info->family = facts == nullptr ? Family::kOther : facts->family;
  info->short_name = word;
  // The calls say it where kernels' names do: aten::addmm adds the bias itself.
  if (info->family == Family::kGemm) {
    info->epilogue = word == "addmm" || word == "baddbmm" ? "bias"
                     : word == "mm" || word == "bmm"      ? "none"
                                                          : "";
  }
  info->ops = {std::move(word)};
  return true;
}

}  // namespace perfgate
