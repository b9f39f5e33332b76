// Rows that count something a step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "evidence/evidence.h"

namespace perfgate {

// Collects kernel rows of one process: one for each (device, name, operator path).
class RowTable {
 public:
  explicit RowTable(int steps) : steps_(static_cast<size_t>(steps)) {}

  // The row, made if it is new. Invalid after the next call.
  KernelRow& Row(const std::string& device, std::string_view name, const std::string& op_path);
  // Counts one occurrence.
  void Add(KernelRow& row, int step, int64_t time_ns) const;
  void AddBytes(KernelRow& row, int step, int64_t bytes) const;

  // More cells than evidence can hold; rows beyond it are not kept.
  bool overflowed() const { return overflowed_; }
  std::vector<KernelRow> Take();

 private:
  size_t steps_;
  std::map<std::tuple<std::string, std::string, std::string>, size_t, std::less<>> index_;
  std::vector<KernelRow> rows_;
  KernelRow spare_;
  bool overflowed_ = false;
};

// Numbers kept at most over all rows of a process.
inline constexpr size_t kMostCells = size_t{1} << 23;

// Counts launches under an operator called with these shapes; "" is no shape.
void AddShape(KernelRow& row, std::string_view input_dims, int64_t count, int64_t time_ns);
void AddStream(KernelRow& row, int64_t stream);

}  // namespace perfgate
