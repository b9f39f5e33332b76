// Stands in for act_and_mul.cu where the build has no nvcc.
#include "torch/cuda/act_and_mul.h"

namespace perfgate::runner {

const char* WhyNoActAndMul() { return "built without nvcc"; }

int perfgate_act_and_mul(const ActAndMulWork*, int, int, void*) {
  return 801;  // cudaErrorNotSupported
}

}  // namespace perfgate::runner
