#include "cupti/gpu_work.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace perfgate::cupti {
namespace {

using Kernel = CUpti_ActivityKernel5;
using Copy = CUpti_ActivityMemcpy4;
using PeerCopy = CUpti_ActivityMemcpyPtoP3;
using Fill = CUpti_ActivityMemset3;
// Of CUPTI 13 and 12 alike.
static_assert(offsetof(Kernel, start) == 16 && offsetof(Kernel, correlationId) == 92 &&
              offsetof(Kernel, name) == 104 && offsetof(Kernel, graphNodeId) == 144 &&
              offsetof(Kernel, graphId) == 156);
static_assert(offsetof(Copy, bytes) == 8 && offsetof(Copy, start) == 16 &&
              offsetof(Copy, streamId) == 40 && offsetof(Copy, correlationId) == 44);
static_assert(offsetof(PeerCopy, copyKind) == 4 && offsetof(PeerCopy, bytes) == 8 &&
              offsetof(PeerCopy, start) == 16 && offsetof(PeerCopy, srcDeviceId) == 44 &&
              offsetof(PeerCopy, dstDeviceId) == 52 && offsetof(PeerCopy, correlationId) == 60 &&
              offsetof(PeerCopy, graphNodeId) == 72 && offsetof(PeerCopy, graphId) == 80);
static_assert(offsetof(Fill, bytes) == 8 && offsetof(Fill, start) == 16 &&
              offsetof(Fill, streamId) == 40 && offsetof(Fill, correlationId) == 44 &&
              offsetof(Fill, memoryKind) == 50 && offsetof(Fill, graphNodeId) == 64 &&
              offsetof(Fill, graphId) == 72);

constexpr size_t kLongestSymbol = 1024;  // Kineto leaves longer ones as they are

// A kernel of C, `f`, is no `float`: only what is mangled is read.
std::string Demangle(const char* symbol) {
  if (!std::string_view(symbol).starts_with("_Z")) return symbol;
  if (std::strlen(symbol) > kLongestSymbol) return symbol;
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  const std::string name = status == 0 && text != nullptr ? text : symbol;
  std::free(text);
  return name;
}

template <size_t kCount>
std::string_view Named(const std::string_view (&names)[kCount], size_t index,
                       std::string_view otherwise) {
  return index < kCount ? names[index] : otherwise;
}

// Kineto's spellings.
std::string_view Direction(uint8_t kind) {
  static constexpr std::string_view kNames[] = {"<unknown>", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                "AtoD",      "DtoA", "DtoD", "HtoH", "PtoP"};
  return Named(kNames, kind, kNames[0]);
}

std::string_view Memory(size_t kind) {
  static constexpr std::string_view kNames[] = {"Unknown",       "Pageable",      "Pinned",
                                                "Device",        "Array",         "Managed",
                                                "Device Static", "Managed Static"};
  return Named(kNames, kind, "Unrecognized");
}

std::string CopyName(uint8_t direction, uint8_t from, uint8_t to) {
  std::string name = "Memcpy ";
  name.append(Direction(direction)).append(" (").append(Memory(from)).append(" -> ");
  return name.append(Memory(to)).append(")");
}

// What the records have in common.
template <typename Record>
void DecodePlace(const Record& record, GpuWork& work) {
  work.start_ns = static_cast<int64_t>(record.start);
  work.end_ns = static_cast<int64_t>(record.end);
  work.device = record.deviceId;
  work.context = record.contextId;
  work.stream = record.streamId;
  work.correlation = record.correlationId;
  work.graph_node = record.graphNodeId;
  work.graph = record.graphId;
}

void DecodeKernel(const Kernel& kernel, NameTable& names, GpuWork& work) {
  DecodePlace(kernel, work);
  work.kind = GpuWork::Kind::kKernel;
  work.name = names.Kernel(kernel.name);
  const int32_t grid[] = {kernel.gridX, kernel.gridY, kernel.gridZ};
  const int32_t block[] = {kernel.blockX, kernel.blockY, kernel.blockZ};
  std::copy(std::begin(grid), std::end(grid), work.grid);
  std::copy(std::begin(block), std::end(block), work.block);
  work.registers = kernel.registersPerThread;
  work.shared_bytes = static_cast<uint32_t>(kernel.staticSharedMemory) +
                      static_cast<uint32_t>(kernel.dynamicSharedMemory);
}

void WriteSizes(std::string_view key, const int32_t (&sizes)[3], JsonLine& line) {
  line.Raw(key).Raw("[").Number(sizes[0]).Raw(",").Number(sizes[1]).Raw(",").Number(sizes[2]);
  line.Raw("]");
}

std::string_view Category(GpuWork::Kind kind) {
  if (kind == GpuWork::Kind::kKernel) return "kernel";
  return kind == GpuWork::Kind::kFill ? "gpu_memset" : "gpu_memcpy";
}

}  // namespace

uint32_t NameTable::Kernel(const char* symbol) {
  if (symbol == nullptr) return Text("");
  const auto known = kernels_.find(symbol);
  return known != kernels_.end() ? known->second : Add(kernels_, symbol, Demangle(symbol));
}

uint32_t NameTable::Text(std::string_view name) {
  const auto known = texts_.find(std::string(name));
  return known != texts_.end() ? known->second : Add(texts_, name, name);
}

uint32_t NameTable::Add(std::unordered_map<std::string, uint32_t>& table, std::string_view key,
                        std::string_view name) {
  const auto index = static_cast<uint32_t>(quoted_.size());
  quoted_.push_back(Quoted(name));
  table.emplace(key, index);
  return index;
}

bool DecodeGpuWork(const CUpti_Activity& record, NameTable& names, GpuWork& work) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      DecodeKernel(reinterpret_cast<const Kernel&>(record), names, work);
      return true;
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const Copy&>(record);
      DecodePlace(copy, work);
      work.kind = GpuWork::Kind::kCopy;
      work.bytes = copy.bytes;
      work.name = names.Text(CopyName(copy.copyKind, copy.srcKind, copy.dstKind));
      return true;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& copy = reinterpret_cast<const PeerCopy&>(record);
      DecodePlace(copy, work);
      work.kind = GpuWork::Kind::kPeerCopy;
      work.device = copy.srcDeviceId;
      work.to_device = copy.dstDeviceId;
      work.bytes = copy.bytes;
      work.name = names.Text(CopyName(copy.copyKind, copy.srcKind, copy.dstKind));
      return true;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = reinterpret_cast<const Fill&>(record);
      DecodePlace(fill, work);
      work.kind = GpuWork::Kind::kFill;
      work.bytes = fill.bytes;
      work.name = names.Text(std::string("Memset (").append(Memory(fill.memoryKind)).append(")"));
      return true;
    }
    default:
      return false;
  }
}

void WriteGpuWork(const GpuWork& work, const NameTable& names, int64_t base_ns, JsonLine& line) {
  const bool timed = work.HasTime();
  line.Raw("{\"ph\":\"X\",\"cat\":\"").Raw(Category(work.kind)).Raw("\",\"name\":");
  line.Raw(names[work.name]).Raw(",\"pid\":").Number(work.device).Raw(",\"tid\":");
  line.Number(work.stream).Raw(",\"ts\":").Micros(timed ? work.start_ns - base_ns : 0);
  line.Raw(",\"dur\":").Micros(timed ? work.end_ns - work.start_ns : 0).Raw(",\"args\":{");
  if (work.kind == GpuWork::Kind::kPeerCopy) {
    line.Raw("\"fromDevice\":").Number(work.device).Raw(",\"toDevice\":").Number(work.to_device);
  } else {
    line.Raw("\"device\":").Number(work.device);
  }
  line.Raw(",\"context\":").Number(work.context).Raw(",\"stream\":").Number(work.stream);
  line.Raw(",\"correlation\":").Number(work.correlation);
  if (work.kind == GpuWork::Kind::kKernel) {
    line.Raw(",\"registers per thread\":").Number(work.registers);
    line.Raw(",\"shared memory\":").Number(work.shared_bytes);
    WriteSizes(",\"grid\":", work.grid, line);
    WriteSizes(",\"block\":", work.block, line);
  } else {
    line.Raw(",\"bytes\":").Number(work.bytes);
  }
  if (work.graph_node != 0) {
    line.Raw(",\"graph id\":").Number(work.graph);
    line.Raw(",\"graph node id\":").Number(work.graph_node);
  }
  line.Raw("}}");
}

}  // namespace perfgate::cupti
