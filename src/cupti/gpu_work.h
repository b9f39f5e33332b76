// Work on the GPU as CUPTI recorded it, decoded.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cupti/json_line.h"

namespace perfgate::cupti {

struct GpuWork {
  enum class Kind : uint8_t { kKernel, kCopy, kPeerCopy, kFill };
  Kind kind = Kind::kKernel;
  uint32_t name = 0;                 // of NameTable
  int64_t start_ns = 0, end_ns = 0;  // of CUPTI's clock; 0: unfinished, or not timed
  uint64_t bytes = 0;                // copies and fills
  uint64_t graph_node = 0;           // 0: of no graph
  uint32_t graph = 0;
  uint32_t correlation = 0;  // of the call that launched it
  uint32_t device = 0, context = 0, stream = 0;
  uint32_t to_device = 0;               // peer copies; `device` is where they come from
  int32_t grid[3] = {}, block[3] = {};  // kernels
  uint32_t registers = 0, shared_bytes = 0;
  bool given_up = false;  // still running when its record was asked for

  bool HasTime() const { return start_ns != 0 && end_ns != 0; }
};

// Names as JSON texts, each once.
class NameTable {
 public:
  // Kernels by their symbols, demangled as Kineto does.
  uint32_t Kernel(const char* symbol);
  uint32_t Text(std::string_view name);
  const std::string& operator[](uint32_t index) const { return quoted_[index]; }

 private:
  uint32_t Add(std::unordered_map<std::string, uint32_t>& table, std::string_view key,
               std::string_view name);

  std::unordered_map<std::string, uint32_t> kernels_, texts_;
  std::vector<std::string> quoted_;
};

// True if `record` is work on the GPU. Reads the oldest layout of each record: newer ones only add
// to its end.
bool DecodeGpuWork(const CUpti_Activity& record, NameTable& names, GpuWork& work);

// The trace event; times count from `base_ns`.
void WriteGpuWork(const GpuWork& work, const NameTable& names, int64_t base_ns, JsonLine& line);

}  // namespace perfgate::cupti
