// Rows that count something a step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/numbers.h"
#include "evidence/evidence.h"

namespace perfgate {

// Collects kernel rows of one process: one for each (device, name, operator path).
class RowTable {
 public:
  using Handle = size_t;

  // What tells rows apart, as numbers of whatever numbering the caller keeps to.
  struct Key {
    int32_t device = 0;
    uint32_t name = 0, path = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };

  explicit RowTable(int steps) : steps_(static_cast<size_t>(steps)) {}

  // The row; if it is new, `describe(KernelRow&)` gives it name, op_path and device.
  template <typename Describe>
  Handle Row(const Key& key, Describe describe) {
    const auto found = index_.find(key);
    if (found != index_.end()) return found->second;
    const Handle row = Add(key);
    if (row != kSpare) describe(rows_[row]);
    return row;
  }
  KernelRow& operator[](Handle row) { return rows_[row]; }

  // Counts one occurrence.
  void Count(Handle row, int step, int64_t time_ns);
  void AddBytes(Handle row, int step, int64_t bytes);
  // Counts it under shapes, a module or an annotation, by a number of them; `text()` gives the text
  // of a new one.
  template <typename Text>
  void AddShape(Handle row, uint32_t number, int64_t time_ns, Text text) {
    AddUse(seen_[row].shapes, rows_[row].shapes, kMostShapes, number, time_ns, text);
  }
  template <typename Text>
  void AddModule(Handle row, uint32_t number, int64_t time_ns, Text text) {
    AddUse(seen_[row].modules, rows_[row].modules, kMostPlaces, number, time_ns, text);
  }
  template <typename Text>
  void AddAnnotation(Handle row, uint32_t number, int64_t time_ns, Text text) {
    AddUse(seen_[row].annotations, rows_[row].annotations, kMostPlaces, number, time_ns, text);
  }
  void SetBackwardOf(Handle row, std::string_view forward);

  // More cells than evidence can hold; rows beyond it are not kept.
  bool overflowed() const { return overflowed_; }
  std::vector<KernelRow> Take();

 private:
  static constexpr Handle kSpare = 0;  // takes what overflowed
  struct Hash {
    size_t operator()(const Key& key) const {
      const uint64_t mixed = (uint64_t{key.name} << 32 | key.path) * 0x9E3779B97F4A7C15U;
      return static_cast<size_t>(mixed ^ mixed >> 29 ^ static_cast<uint32_t>(key.device));
    }
  };
  // The numbers of the texts that a row holds, in the same order.
  struct Seen {
    std::vector<uint32_t> shapes, modules, annotations;
  };

  Handle Add(const Key& key);
  KernelRow Empty() const;

  template <typename Use, typename Text>
  static void AddUse(std::vector<uint32_t>& seen, std::vector<Use>& uses, size_t most,
                     uint32_t number, int64_t time_ns, Text text) {
    size_t at = 0;
    while (at < seen.size() && seen[at] != number) ++at;
    if (at == seen.size()) {
      if (at == most) return;
      seen.push_back(number);
      uses.push_back(Use{std::string(text()), 0, 0});
    }
    uses[at].count += 1;
    uses[at].time_ns = SaturatingAdd(uses[at].time_ns, time_ns);
  }

  size_t steps_;
  std::unordered_map<Key, Handle, Hash> index_;
  std::vector<KernelRow> rows_{Empty()};
  std::vector<Seen> seen_{Seen{}};
  bool overflowed_ = false;
};

// Numbers kept at most over all rows of a process.
inline constexpr size_t kMostCells = size_t{1} << 23;

void AddStream(KernelRow& row, int64_t stream);
// Adds what another process counted under the same text.
void AddShape(KernelRow& row, const ShapeUse& use);
void AddPlace(std::vector<PlaceUse>& places, const PlaceUse& use);

}  // namespace perfgate
