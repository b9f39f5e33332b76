// A set of correlation ids, which CUPTI counts up by one from the start of the process.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace perfgate::cupti {

class IdSet {
 public:
  // False if it was there.
  bool Insert(uint32_t id) {
    std::unique_ptr<Page>& page = pages_[id >> kPageBits];
    if (page == nullptr) page = std::make_unique<Page>();
    const bool fresh = !page->test(id & kMask);
    page->set(id & kMask);
    return fresh;
  }
  bool Contains(uint32_t id) const {
    const auto page = pages_.find(id >> kPageBits);
    return page != pages_.end() && page->second->test(id & kMask);
  }

 private:
  static constexpr int kPageBits = 15;
  static constexpr uint32_t kMask = (1u << kPageBits) - 1;
  using Page = std::bitset<size_t{1} << kPageBits>;

  std::unordered_map<uint32_t, std::unique_ptr<Page>> pages_;
};

}  // namespace perfgate::cupti
