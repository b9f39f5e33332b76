#include "evidence/rows.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace perfgate {

int64_t KernelRow::Count() const { return SaturatingSum(count_per_step); }

int64_t KernelRow::TimeNs() const { return SaturatingSum(time_ns_per_step); }

std::string_view KernelRow::Operator() const {
  constexpr std::string_view kSeparator = " > ";
  const std::string_view path = op_path;
  const size_t last = path.rfind(kSeparator);
  return last == std::string_view::npos ? path : path.substr(last + kSeparator.size());
}

KernelRow& RowTable::Row(const std::string& device, std::string_view name,
                         const std::string& op_path) {
  auto key = std::make_tuple(device, std::string(name), op_path);
  const auto found = index_.find(key);
  if (found != index_.end()) return rows_[found->second];
  KernelRow* row = &spare_;
  if ((rows_.size() + 1) * steps_ > kMostCells) {
    overflowed_ = true;
  } else {
    index_.emplace(std::move(key), rows_.size());
    row = &rows_.emplace_back();
  }
  *row = KernelRow{};
  row->name = name;
  row->op_path = op_path;
  row->device = device;
  row->count_per_step.resize(steps_);
  row->time_ns_per_step.resize(steps_);
  return *row;
}

void RowTable::Add(KernelRow& row, int step, int64_t time_ns) const {
  row.count_per_step[static_cast<size_t>(step)] += 1;
  int64_t& sum = row.time_ns_per_step[static_cast<size_t>(step)];
  sum = SaturatingAdd(sum, time_ns);
}

void RowTable::AddBytes(KernelRow& row, int step, int64_t bytes) const {
  row.bytes_per_step.resize(steps_);
  int64_t& sum = row.bytes_per_step[static_cast<size_t>(step)];
  sum = SaturatingAdd(sum, bytes);
}

std::vector<KernelRow> RowTable::Take() { return std::move(rows_); }

void AddStream(KernelRow& row, int64_t stream) {
  const auto place = std::lower_bound(row.streams.begin(), row.streams.end(), stream);
  if (place == row.streams.end() || *place != stream) row.streams.insert(place, stream);
}

}  // namespace perfgate
