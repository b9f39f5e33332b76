// Sorting of what is nearly sorted.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "evidence/run_sort.h"

namespace perfgate {
namespace {

using Item = std::pair<int, int>;  // what is compared; where it stood

bool ByFirst(const Item& a, const Item& b) { return a.first < b.first; }

TEST(SortRuns, IsAStableSortOfAnything) {
  std::mt19937 random(1);
  for (int size = 0; size < 200; ++size) {
    std::vector<Item> items;
    for (int i = 0; i < size; ++i) items.emplace_back(static_cast<int>(random() % 20), i);
    std::vector<Item> expected = items;
    std::stable_sort(expected.begin(), expected.end(), ByFirst);
    SortRuns(items, ByFirst);
    ASSERT_EQ(items, expected) << size << " items";
  }
}

TEST(SortRuns, KeepsTheOrderOfEqualItemsWhereFewRunsOverlap) {
  std::mt19937 random(2);
  for (int runs = 1; runs < 9; ++runs) {
    std::vector<Item> items;
    for (int i = 0; i < 640; ++i) items.emplace_back(static_cast<int>(random() % 20), i);
    const std::ptrdiff_t length = 640 / runs;
    for (int run = 0; run < runs; ++run) {
      std::stable_sort(items.begin() + run * length,
                       run + 1 == runs ? items.end() : items.begin() + (run + 1) * length, ByFirst);
    }
    std::vector<Item> expected = items;
    std::stable_sort(expected.begin(), expected.end(), ByFirst);
    SortRuns(items, ByFirst);
    ASSERT_EQ(items, expected) << runs << " runs";
  }
}

TEST(SortRuns, ComparesRunsOnceThatFollowEachOther) {
  std::vector<int> items;
  for (int i = 0; i < 1000; ++i) items.push_back(i);
  int compared = 0;
  SortRuns(items, [&compared](int a, int b) { return ++compared, a < b; });
  EXPECT_EQ(compared, 999);
}

TEST(SortRuns, MergesRunsThatOverlap) {
  std::vector<int> items;
  for (int run = 0; run < 7; ++run) {
    for (int i = 0; i < 100; ++i) items.push_back(i * 7 + run);
  }
  SortRuns(items, std::less<>());
  for (int i = 0; i < 700; ++i) ASSERT_EQ(items[static_cast<size_t>(i)], i);
}

}  // namespace
}  // namespace perfgate
