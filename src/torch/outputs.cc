#include "torch/outputs.h"

#include <ATen/ops/view_as_real.h>

#include "perfgate/outputs.h"

namespace perfgate::runner {
namespace {

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
    case at::kFloat8_e4m3fn:
      return "fp8_e4m3";
    case at::kFloat8_e5m2:
      return "fp8_e5m2";
    case at::kLong:
      return "int64";
    case at::kInt:
      return "int32";
    case at::kShort:
      return "int16";
    case at::kChar:
      return "int8";
    case at::kByte:
      return "uint8";
    case at::kBool:
      return "bool";
    default:
      return c10::toString(dtype);
  }
}

}  // namespace

std::vector<attempt::Output> Save(const std::vector<at::Tensor>& outputs,
                                  const attempt::Settings& settings) {
  std::vector<attempt::Output> saved;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor real = outputs[i].is_complex() ? at::view_as_real(outputs[i]) : outputs[i];
    const at::Tensor values = real.to(at::kCPU, at::kFloat).contiguous();
    saved.push_back(attempt::Save(settings, "output-" + std::to_string(i), real.sizes().vec(),
                                  DtypeName(real.scalar_type()), values.const_data_ptr<float>(),
                                  outputs.size()));
  }
  return saved;
}

}  // namespace perfgate::runner
