// The short notation in which specs write traces (docs/testing.md):
//
//   step×2 { aten::linear{aten::addmm{gemm_bias 12us}} aten::gelu{gelu 3us} sync
//   cudaDeviceSynchronize } cpu step×2 { aten::mm 100us graph_0_cpp_fused_gelu_mul_0 20us }
#pragma once

#include <string>
#include <string_view>

namespace perfgate::spec {

// The Kineto JSON that `notation` stands for. `where` starts every error text. Throws
// std::runtime_error for a mistake in the notation, with the word at which it was seen.
std::string ExpandTrace(std::string_view notation, const std::string& where);

}  // namespace perfgate::spec
