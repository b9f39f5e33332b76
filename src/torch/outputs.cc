#include "torch/outputs.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace perfgate::runner {
namespace {

constexpr int64_t kSaveAtMostBytes = int64_t{256} << 20;

std::string DtypeName(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return "fp32";
    case at::kBFloat16:
      return "bf16";
    case at::kHalf:
      return "fp16";
    case at::kDouble:
      return "fp64";
    default:
      return c10::toString(dtype);
  }
}

void AddStatistics(const float* values, int64_t count, attempt::Output* output) {
  double sum = 0;
  int64_t finite_count = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(values[i]);
    output->nan_count += std::isnan(value);
    output->inf_count += std::isinf(value);
    if (!std::isfinite(value)) continue;
    output->min = finite_count == 0 ? value : std::min(output->min, value);
    output->max = finite_count == 0 ? value : std::max(output->max, value);
    sum += value;
    ++finite_count;
  }
  output->mean = finite_count == 0 ? 0 : sum / static_cast<double>(finite_count);
}

}  // namespace

std::vector<attempt::Output> Describe(const std::vector<at::Tensor>& outputs,
                                      const std::string& folder) {
  std::vector<attempt::Output> described;
  for (size_t i = 0; i < outputs.size(); ++i) {
    attempt::Output output;
    output.name = "output-" + std::to_string(i);
    output.shape = outputs[i].sizes().vec();
    output.dtype = DtypeName(outputs[i].scalar_type());
    const at::Tensor values = outputs[i].to(at::kCPU, at::kFloat).contiguous();
    const float* data = values.const_data_ptr<float>();
    AddStatistics(data, values.numel(), &output);
    const int64_t bytes = values.numel() * static_cast<int64_t>(sizeof(float));
    if (bytes <= kSaveAtMostBytes) {
      output.file = output.name + ".f32";
      attempt::internal::WriteWhole(
          folder + "/" + output.file,
          std::string(reinterpret_cast<const char*>(data), static_cast<size_t>(bytes)));
    }
    described.push_back(std::move(output));
  }
  return described;
}

}  // namespace perfgate::runner
