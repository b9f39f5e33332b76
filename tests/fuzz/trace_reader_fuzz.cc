// Any bytes as a trace: both roads of the reader agree, whatever the windows.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "trace_difference.h"

// Several threads for some inputs only: starting them takes longer than reading.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view contents(reinterpret_cast<const char*>(data), size);
  perfgate::ByteSource source(contents);
  // What the fast road leaves to the reference reader must be harmless as well.
  const perfgate::TraceData reference = perfgate::ReadReference(source, "trace.json");
  for (const size_t window_bytes : {size_t{64}, size_t{4096}}) {
    perfgate::ByteSource again(contents);
    const auto fast = perfgate::ReadFast(again, {window_bytes, size % 8 == 0 ? 2 : 1});
    if (!fast) continue;
    const std::string difference = perfgate::Difference(reference, *fast);
    if (difference.empty()) continue;
    std::fprintf(stderr, "the roads differ: %s\n", difference.c_str());
    std::abort();
  }
  return 0;
}
