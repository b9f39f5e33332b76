// Kernels of CUB, Thrust, rocPRIM and cuDNN that are not of another family.
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
    {"::scan::", Family::kScan, "scan"},
    {"DeviceScan", Family::kScan, "scan"},
    {"DeviceRadixSort", Family::kSort, "sort"},
    {"radix_sort", Family::kSort, "sort"},
    {"DeviceSegmentedRadixSort", Family::kSort, "sort"},
    {"merge_sort", Family::kSort, "sort"},
    {"DeviceMergeSort", Family::kSort, "sort"},
    {"DeviceReduce", Family::kReduction, "reduce"},
    {"DeviceSegmentedReduce", Family::kReduction, "reduce"},
    {"::reduce::", Family::kReduction, "reduce"},
    {"reduce_kernel", Family::kReduction, "reduce"},
    {"DeviceSelect", Family::kIndexing, "masked_select"},
    {"DeviceUniqueByKey", Family::kSort, "unique"},
    {"DeviceHistogram", Family::kReduction, "histc"},
    {"DeviceRunLengthEncode", Family::kSort, "unique"},
    {"lookback_scan", Family::kScan, "scan"},
    {"block_sort", Family::kSort, "sort"},
    {"partition", Family::kIndexing, "masked_select"},
    {"ParallelForAgent", Family::kPointwise, ""},
    {"for_each", Family::kPointwise, ""},
    {"DeviceTransform", Family::kPointwise, ""},
};

// Of cuDNN's namespaces.
constexpr Mark kCudnn[] = {
    {"nchwToNhwc", Family::kCopy, "copy"},
    {"nhwcToNchw", Family::kCopy, "copy"},
    {"AddPadding", Family::kCopy, "copy"},
    {"ranspose", Family::kCopy, "copy"},
    {"scalePackedTensor", Family::kPointwise, "mul"},
    {"op_generic_tensor", Family::kPointwise, ""},
    {"op_tensor", Family::kPointwise, ""},
    {"activation_fw", Family::kPointwise, ""},
    {"activation_bw", Family::kPointwise, ""},
    {"dropout_", Family::kRandom, "dropout"},
    {"winograd", Family::kConv, "convolution"},
    {"implicit_convolve", Family::kConv, "convolution"},
    {"wgrad", Family::kConv, "convolution_backward"},
    {"dgrad", Family::kConv, "convolution_backward"},
    {"conv", Family::kConv, "convolution"},
    {"bn_fw", Family::kNorm, "batch_norm"},
    {"bn_bw", Family::kNorm, "batch_norm_backward"},
    {"bn_", Family::kNorm, "batch_norm"},
    {"batchnorm", Family::kNorm, "batch_norm"},
    {"lrn_fw", Family::kNorm, "local_response_norm"},
    {"softmax_bw", Family::kSoftmax, "softmax_backward"},
    {"softmax", Family::kSoftmax, "softmax"},
    {"pooling", Family::kReduction, "pool"},
    {"RNN", Family::kGemm, "rnn"},
    {"LSTM", Family::kGemm, "rnn"},
};

// Functions of cuDNN and cuBLAS outside of namespaces, by what their names start with: only names
// that nobody else gives.
constexpr Mark kBare[] = {
    {"implicit_convolve", Family::kConv, "convolution"},
    {"explicit_convolve", Family::kConv, "convolution"},
    {"precomputed_convolve", Family::kConv, "convolution"},
    {"convolve_common_engine", Family::kConv, "convolution"},
    {"conv2d_grouped_direct_kernel", Family::kConv, "convolution"},
    {"dgrad2d_grouped_direct_kernel", Family::kConv, "convolution_backward"},
    {"wgrad_alg", Family::kConv, "convolution_backward"},
    {"dgrad_engine", Family::kConv, "convolution_backward"},
    {"dgrad_alg", Family::kConv, "convolution_backward"},
    {"wgrad2d_", Family::kConv, "convolution_backward"},
    {"calc_bias_diff", Family::kReduction, "convolution_backward"},
    {"fft2d_r2c", Family::kConv, "convolution"},
    {"fft2d_c2r", Family::kConv, "convolution"},
    {"pointwise_mult_and_sum_complex", Family::kConv, "convolution"},
    {"flip_filter", Family::kCopy, "copy"},
    {"computeOffsetsKernel", Family::kConv, "convolution"},
    {"tensorTransformGeneric", Family::kCopy, "copy"},
    {"foldedNchwTo", Family::kCopy, "copy"},
    {"foldedNhwcTo", Family::kCopy, "copy"},
    {"nchwToFolded", Family::kCopy, "copy"},
    {"nhwcToFolded", Family::kCopy, "copy"},
    {"nchwAddPaddingKernel", Family::kCopy, "copy"},
    {"nhwcAddPaddingKernel", Family::kCopy, "copy"},
    {"softmax_fw_small_kernel", Family::kSoftmax, "softmax"},
    {"softmax_bw_small_kernel", Family::kSoftmax, "softmax_backward"},
    {"RNN_blockPersist", Family::kGemm, "rnn"},
    {"RNN_elementWise", Family::kPointwise, "rnn"},
    {"LSTM_elementWise", Family::kPointwise, "rnn"},
    {"GRU_elementWise", Family::kPointwise, "rnn"},
    {"persistRNN", Family::kGemm, "rnn"},
};

template <size_t kSize>
bool Find(const Mark (&marks)[kSize], std::string_view text, KernelInfo* info) {
  for (const Mark& mark : marks) {
    if (text.find(mark.text) == std::string_view::npos) continue;
    info->family = mark.family;
    if (!mark.word.empty()) info->ops = {std::string(mark.word)};
    return true;
  }
  return false;
}

// The functor says what a scan or a reduction sums up.
void RefineCub(std::string_view callee, KernelInfo* info) {
  bool plus = callee.find("plus<") != std::string_view::npos ||
              callee.find("::Sum") != std::string_view::npos;
  if (!plus || info->ops.empty()) return;
  if (info->ops[0] == "scan") info->ops = {"cumsum"};
  if (info->ops[0] == "reduce") info->ops = {"sum"};
}

void LabelLibrary(const NameParts& name, KernelInfo* info) {
  info->opaque = info->ops.empty();
  info->short_name = info->library + " " + std::string(name.function.substr(0, 50));
}

bool DecodeBare(const NameParts& name, KernelInfo* info) {
  for (const Mark& mark : kBare) {
    if (!name.function.starts_with(mark.text)) continue;
    info->library = "cudnn";
    info->family = mark.family;
    info->ops = {std::string(mark.word)};
    LabelLibrary(name, info);
    return true;
  }
  return false;
}

void DecodeCudnnNamespace(const NameParts& name, std::string_view callee, KernelInfo* info) {
  info->library = "cudnn";
  Find(kCudnn, callee, info);
  std::vector<std::string_view> arguments = SplitTopLevel(name.arguments, ',', 8);
  if (!arguments.empty()) info->in_dtype = DtypeOf(arguments[0]);
  if (arguments.size() > 1) info->out_dtype = DtypeOf(arguments[1]);
  LabelLibrary(name, info);
}

}  // namespace

bool DecodeLibrary(const NameParts& name, KernelInfo* info) {
  std::string_view callee = name.callee.substr(0, 4096);
  auto holds = [&](std::string_view part) { return callee.find(part) != std::string_view::npos; };
  bool rocm = holds("rocprim::") || holds("hipcub::");
  if (rocm || holds("cub::") || callee.starts_with("thrust::")) {
    info->library = rocm ? "rocprim" : "cub";
    Find(kCub, callee, info);
    RefineCub(callee, info);
    LabelLibrary(name, info);
    return true;
  }
  if (!holds("cudnn")) return DecodeBare(name, info);
  DecodeCudnnNamespace(name, callee, info);
  return true;
}

}  // namespace perfgate
