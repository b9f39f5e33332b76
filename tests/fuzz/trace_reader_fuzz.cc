// Any bytes as a trace: both roads of the reader agree, whatever the windows.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "trace_difference.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view contents(reinterpret_cast<const char*>(data), size);
  for (const size_t window_bytes : {size_t{64}, size_t{4096}}) {
    const perfgate::BothRoads both = perfgate::ReadBothRoads(contents, {window_bytes, 2});
    if (both.difference.empty()) continue;
    std::fprintf(stderr, "the roads differ: %s\n", both.difference.c_str());
    std::abort();
  }
  // What the fast road leaves to the reference reader must be harmless as well.
  perfgate::ByteSource source(contents);
  perfgate::ReadReference(source, "trace.json");
  return 0;
}
