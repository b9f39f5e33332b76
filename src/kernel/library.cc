// Kernels of CUB, Thrust and cuDNN that are not of another family.
#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

struct Mark {
  std::string_view text;  // in the callee
  Family family;
  std::string_view word;
};

constexpr Mark kCub[] = {
    {"::scan::", Family::kScan, "cumsum"},
    {"DeviceScan", Family::kScan, "cumsum"},
    {"DeviceRadixSort", Family::kSort, "sort"},
    {"radix_sort", Family::kSort, "sort"},
    {"DeviceSegmentedRadixSort", Family::kSort, "sort"},
    {"merge_sort", Family::kSort, "sort"},
    {"DeviceMergeSort", Family::kSort, "sort"},
    {"DeviceReduce", Family::kReduction, "sum"},
    {"::reduce::", Family::kReduction, "sum"},
    {"DeviceSelect", Family::kIndexing, "masked_select"},
    {"DeviceUniqueByKey", Family::kSort, "unique"},
    {"DeviceHistogram", Family::kReduction, "histc"},
};

constexpr Mark kCudnn[] = {
    {"nchwToNhwc", Family::kCopy, "copy"},
    {"nhwcToNchw", Family::kCopy, "copy"},
    {"nchwAddPadding", Family::kCopy, "copy"},
    {"op_generic_tensor", Family::kPointwise, "add"},
    {"winograd", Family::kConv, "convolution"},
    {"implicit_convolve", Family::kConv, "convolution"},
    {"conv", Family::kConv, "convolution"},
    {"bn_fw", Family::kNorm, "batch_norm"},
    {"bn_bw", Family::kNorm, "batch_norm_backward"},
    {"batchnorm", Family::kNorm, "batch_norm"},
    {"softmax", Family::kSoftmax, "softmax"},
    {"pooling", Family::kReduction, "pool"},
    {"RNN", Family::kGemm, "rnn"},
    {"LSTM", Family::kGemm, "rnn"},
};

template <size_t kSize>
bool Find(const Mark (&marks)[kSize], std::string_view text, KernelInfo* info) {
  for (const Mark& mark : marks) {
    if (text.find(mark.text) == std::string_view::npos) continue;
    info->family = mark.family;
    info->ops = {std::string(mark.word)};
    return true;
  }
  return false;
}

}  // namespace

bool DecodeLibrary(const NameParts& name, KernelInfo* info) {
  std::string_view callee = name.callee.substr(0, 4096);
  bool cub = callee.find("cub::") != std::string_view::npos || callee.starts_with("thrust::");
  bool cudnn = callee.find("cudnn") != std::string_view::npos;
  if (!cub && !cudnn) return false;
  info->library = cub ? "cub" : "cudnn";
  if (!(cub ? Find(kCub, callee, info) : Find(kCudnn, callee, info))) info->opaque = true;
  std::vector<std::string_view> arguments = SplitTopLevel(name.arguments, ',', 8);
  if (cudnn && !arguments.empty()) info->in_dtype = DtypeOf(arguments[0]);
  if (cudnn && arguments.size() > 1) info->out_dtype = DtypeOf(arguments[1]);
  info->short_name = info->library + " " + std::string(name.function.substr(0, 50));
  return true;
}

}  // namespace perfgate
