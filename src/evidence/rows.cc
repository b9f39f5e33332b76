#include "evidence/rows.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace perfgate {

int64_t KernelRow::Count() const { return SaturatingSum(count_per_step); }

int64_t KernelRow::TimeNs() const { return SaturatingSum(time_ns_per_step); }

std::string_view KernelRow::Operator() const { return Innermost(op_path); }

std::vector<std::string_view> PathElements(std::string_view op_path) {
  std::vector<std::string_view> elements;
  while (!op_path.empty()) {
    const size_t end = op_path.find(kPathSeparator);
    elements.push_back(op_path.substr(0, end));
    if (end == std::string_view::npos) break;
    op_path.remove_prefix(end + kPathSeparator.size());
  }
  return elements;
}

std::string_view Innermost(std::string_view op_path) {
  const size_t last = op_path.rfind(kPathSeparator);
  return last == std::string_view::npos ? op_path : op_path.substr(last + kPathSeparator.size());
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

void AddShape(KernelRow& row, std::string_view input_dims, int64_t count, int64_t time_ns) {
  if (input_dims.empty()) return;
  auto use = std::find_if(row.shapes.begin(), row.shapes.end(),
                          [&](const ShapeUse& shape) { return shape.input_dims == input_dims; });
  if (use == row.shapes.end()) {
    if (row.shapes.size() == kMostShapes) return;
    use = row.shapes.insert(use, ShapeUse{std::string(input_dims), 0, 0});
  }
  use->count = SaturatingAdd(use->count, count);
  use->time_ns = SaturatingAdd(use->time_ns, time_ns);
}

void AddStream(KernelRow& row, int64_t stream) {
  const auto place = std::lower_bound(row.streams.begin(), row.streams.end(), stream);
  if (place == row.streams.end() || *place != stream) row.streams.insert(place, stream);
}

}  // namespace perfgate
