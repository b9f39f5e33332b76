#include "evidence/rows.h"

#include <algorithm>

#include "base/numbers.h"

namespace perfgate {
namespace {

template <typename Use>
void AddUse(std::vector<Use>& uses, const Use& use, std::string Use::*text, size_t most) {
  const auto found = std::find_if(uses.begin(), uses.end(),
                                  [&](const Use& other) { return other.*text == use.*text; });
  if (found != uses.end()) {
    found->count = SaturatingAdd(found->count, use.count);
    found->time_ns = SaturatingAdd(found->time_ns, use.time_ns);
  } else if (uses.size() < most) {
    uses.push_back(use);
  }
}

}  // namespace

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

RowTable::Handle RowTable::Add(const Key& key) {
  if (rows_.size() * steps_ > kMostCells) {
    overflowed_ = true;
    seen_[kSpare] = Seen{};
    rows_[kSpare] = Empty();
    return kSpare;
  }
  const Handle row = rows_.size();
  index_.emplace(key, row);
  rows_.push_back(Empty());
  seen_.emplace_back();
  return row;
}

KernelRow RowTable::Empty() const {
  KernelRow row;
  row.count_per_step.resize(steps_);
  row.time_ns_per_step.resize(steps_);
  return row;
}

void RowTable::Count(Handle row, int step, int64_t time_ns) {
  rows_[row].count_per_step[static_cast<size_t>(step)] += 1;
  int64_t& sum = rows_[row].time_ns_per_step[static_cast<size_t>(step)];
  sum = SaturatingAdd(sum, time_ns);
}

void RowTable::AddBytes(Handle row, int step, int64_t bytes) {
  rows_[row].bytes_per_step.resize(steps_);
  int64_t& sum = rows_[row].bytes_per_step[static_cast<size_t>(step)];
  sum = SaturatingAdd(sum, bytes);
}

void RowTable::SetBackwardOf(Handle row, std::string_view forward) {
  if (rows_[row].backward_of.empty()) rows_[row].backward_of = forward;
}

std::vector<KernelRow> RowTable::Take() {
  rows_.erase(rows_.begin());
  return std::move(rows_);
}

void AddShape(KernelRow& row, const ShapeUse& use) {
  AddUse(row.shapes, use, &ShapeUse::input_dims, kMostShapes);
}

void AddPlace(std::vector<PlaceUse>& places, const PlaceUse& use) {
  AddUse(places, use, &PlaceUse::place, kMostPlaces);
}

void AddStream(KernelRow& row, int64_t stream) {
  const auto place = std::lower_bound(row.streams.begin(), row.streams.end(), stream);
  if (place == row.streams.end() || *place != stream) row.streams.insert(place, stream);
}

}  // namespace perfgate
