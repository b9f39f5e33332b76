// Any bytes as a kernel's or an operator's name: harmless, bounded, always read the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "invariant.h"
#include "kernel/kernel.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfgate;
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  const KernelInfo info = DecodeKernelName(name);
  Must(info.canonical.size() <= size + (1 << 20), "a canonical name is bounded");
  Must(info.short_name.size() <= 60, "a short name is short");
  Must(info.stages >= 0 && info.split_k >= 0, "numbers of a name are counts");
  Must(!info.opaque || info.ops.empty(), "an opaque kernel has no operators");
  Must(DecodeKernelName(name).canonical == info.canonical, "a name is always read the same");
  ClassifyOperator(name);
  Must(OperatorWord(name).size() <= size + 64, "an operator's word is bounded");
  return 0;
}
