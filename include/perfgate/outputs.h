// Outputs for the numeric rules, for C++ programs: header-only, C++17, POSIX. See attempt.h for the
// use.
//
//   std::vector<float> logits = model.Logits();
//   attempt::Samples samples = attempt::Measure(settings, workload);
//   samples.inputs = "seed 1, batch 8";
//   samples.outputs = {attempt::Save(settings, "logits", {8, 1000}, "fp32", logits.data())};
//   attempt::Finish(settings, samples);
#pragma once

#include <perfgate/attempt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace perfgate {
namespace attempt {

// Every how many-th element of an output with `elements` elements is saved, of a process with
// `outputs` outputs: all of up to 4 Mi elements (16 MiB), fewer where there are more than 16
// outputs. It depends on these numbers alone, so that a case and its reference save the same
// elements, and it shares no factor with `elements`, so that no row or column is left out.
inline int64_t StrideOf(int64_t elements, size_t outputs) {
  constexpr int64_t kMostElements = int64_t{64} << 20;  // of all outputs together: 256 MiB
  const int64_t most =
      std::max<int64_t>(1, kMostElements / static_cast<int64_t>(std::max<size_t>(outputs, 16)));
  int64_t stride = std::max<int64_t>(1, (elements + most - 1) / most);
  while (std::gcd(stride, elements) > 1) ++stride;
  return stride;
}

namespace internal {

// As in URLs: what a file name may not hold, or not everywhere, becomes %XX. Two names never become
// one.
inline std::string FileNameOf(const std::string& name) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string file;
  for (const char c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '.' || c == '_' || c == '-' || c == '~';
    if (plain) {
      file += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      file += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return file;
}

}  // namespace internal

// Statistics of an output over all of its elements, and the elements, or every stride-th of them,
// as little-endian float32 in a file of the folder. `values`: the elements of the shape in C order;
// `dtype`: the type that they were computed in ("bf16"); `outputs`: how many the process saves.
// Throws std::runtime_error if the file cannot be written.
inline Output Save(const Settings& settings, std::string name, std::vector<int64_t> shape,
                   std::string dtype, const float* values, size_t outputs = 1) {
  Output output;
  output.name = std::move(name);
  output.dtype = std::move(dtype);
  output.shape = std::move(shape);
  int64_t elements = 1;
  for (const int64_t size : output.shape) elements *= size;
  double sum = 0;
  int64_t finite_count = 0;
  for (int64_t i = 0; i < elements; ++i) {
    const double value = static_cast<double>(values[i]);
    output.nan_count += std::isnan(value);
    output.inf_count += std::isinf(value);
    if (!std::isfinite(value)) continue;
    output.min = finite_count == 0 ? value : std::min(output.min, value);
    output.max = finite_count == 0 ? value : std::max(output.max, value);
    sum += value;
    ++finite_count;
  }
  output.mean = finite_count == 0 ? 0 : sum / static_cast<double>(finite_count);
  output.stride = StrideOf(elements, outputs);
  output.file = internal::FileNameOf(output.name) + ".f32";
  std::string bytes;
  if (output.stride == 1) {
    bytes.assign(reinterpret_cast<const char*>(values),
                 static_cast<size_t>(elements) * sizeof(float));
  } else {
    for (int64_t i = 0; i < elements; i += output.stride) {
      bytes.append(reinterpret_cast<const char*>(values + i), sizeof(float));
    }
  }
  internal::WriteWhole(settings.folder + "/" + output.file, bytes);
  return output;
}

}  // namespace attempt
}  // namespace perfgate
