// Any bytes as a baseline file: refused, or read, and then written and read again the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "baseline/format.h"
#include "invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfgate;
  ParseConflict({reinterpret_cast<const char*>(data), size});
  Baseline baseline;
  try {
    baseline = ParseBaseline({reinterpret_cast<const char*>(data), size}, "baseline.json");
  } catch (const Error& error) {
    Must(error.fault() == Fault::kInput, "a mistake is one of the file");
    return 0;
  }
  Must(baseline.evidence.Complete(), "a baseline is complete");
  const std::string text = BaselineText(baseline);
  Must(BaselineText(ParseBaseline(text, "baseline.json")) == text,
       "a baseline that is written again is the same");
  return 0;
}
