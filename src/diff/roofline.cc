// Matrix products against the roofline of the GPU: no product is faster than its operations at the
// peak rate, nor than its tensors at the peak bandwidth, each read or written once.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "diff/launches.h"

namespace perfgate {
namespace {

// Dense peaks, in operations and bytes a second, from the vendors' data sheets. The names are what
// the driver calls the whole board: a MIG slice has other peaks, and another name.
struct Board {
  std::string_view name;
  double half, fp8, tf32, fp32;  // multiply and add are two operations
  double bandwidth;
};

constexpr std::array kBoards = {
    Board{"NVIDIA H200", 989e12, 1979e12, 495e12, 67e12, 4.8e12},
    Board{"NVIDIA H100 80GB HBM3", 989e12, 1979e12, 495e12, 67e12, 3.35e12},
    Board{"NVIDIA H100 PCIe", 756e12, 1513e12, 378e12, 51e12, 2.0e12},
    Board{"NVIDIA B200", 2250e12, 4500e12, 1125e12, 75e12, 7.7e12},
    Board{"NVIDIA A100-SXM4-80GB", 312e12, 0, 156e12, 19.5e12, 2.04e12},
    Board{"NVIDIA A100-SXM4-40GB", 312e12, 0, 156e12, 19.5e12, 1.56e12},
    Board{"NVIDIA A100 80GB PCIe", 312e12, 0, 156e12, 19.5e12, 1.94e12},
    Board{"NVIDIA L40S", 362e12, 733e12, 183e12, 91.6e12, 0.864e12},
    Board{"NVIDIA L4", 121e12, 242e12, 60e12, 30.3e12, 0.3e12},
    Board{"Tesla V100-SXM2-16GB", 125e12, 0, 0, 15.7e12, 0.9e12},
    Board{"Tesla T4", 65e12, 0, 0, 8.1e12, 0.32e12},
};

const Board* FindBoard(std::string_view device) {
  const Board* found = nullptr;
  for (const Board& board : kBoards) {
    if (device == board.name) found = &board;
  }
  return found;
}

struct Element {
  double rate = 0;  // operations a second; 0: unknown
  double bytes = 0;
};

Element ElementOf(const std::string& type, const Board& board) {
  if (type == "bf16" || type == "fp16") return {board.half, 2};
  if (type.starts_with("fp8") || type == "int8") return {board.fp8, 1};
  if (type == "tf32") return {board.tf32, 4};
  if (type == "fp32") return {board.fp32, 4};
  return {};
}

struct Sums {
  double time_ns = 0, floor_ns = 0, operations = 0;
};

void AddRow(const KernelRow& row, const Board& board, Sums* sums) {
  const Element in = ElementOf(row.info.in_dtype, board);
  const Element out = ElementOf(row.info.out_dtype, board);
  if (in.rate <= 0 || out.bytes <= 0) return;
  for (const ShapeUse& use : row.shapes) {
    const auto size = ProductOf(row.Operator(), use.input_dims);
    if (!size || use.time_ns <= 0) continue;
    const auto batch = static_cast<double>(size->batch), rows = static_cast<double>(size->rows),
               inner = static_cast<double>(size->inner),
               columns = static_cast<double>(size->columns),
               matrices = static_cast<double>(size->matrices);
    const double operations = 2 * batch * rows * inner * columns;
    const double bytes = (batch * rows * inner + matrices * inner * columns) * in.bytes +
                         batch * rows * columns * out.bytes;
    const auto count = static_cast<double>(use.count);
    sums->time_ns += static_cast<double>(use.time_ns);
    sums->operations += count * operations;
    sums->floor_ns += count * 1e9 * std::max(operations / in.rate, bytes / board.bandwidth);
  }
}

}  // namespace

std::string RooflineText(const Evidence& evidence) {
  const Board* board = FindBoard(evidence.device_name);
  if (board == nullptr) return "";
  Sums sums;
  double all_ns = 0;
  for (const KernelRow& row : evidence.kernels) {
    if (row.info.family == Family::kGemm || row.info.family == Family::kGemv) {
      AddRow(row, *board, &sums);
      all_ns += static_cast<double>(row.TimeNs());
    }
  }
  if (sums.time_ns <= 0) return "";
  return fmt::format(
      "matrix products run at {:.0f} TFLOP/s, {:.0f} % of their roofline (of {:.0f} % of their "
      "time the sizes are known)",
      sums.operations / sums.time_ns / 1e3, 100 * sums.floor_ns / sums.time_ns,
      100 * std::min(1.0, sums.time_ns / all_ns));
}

}  // namespace perfgate
