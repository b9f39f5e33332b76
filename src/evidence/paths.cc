#include "evidence/paths.h"

#include <algorithm>
#include <string_view>

#include "evidence/path_text.h"

namespace perfgate {

uint32_t OperatorPaths::Of(int32_t op) {
  chain_.clear();
  for (; op != kNoOperator && chain_.size() < kDeepestPath;
       op = host_.parent[static_cast<size_t>(op)]) {
    chain_.push_back(host_.PathName(host_.trace->events[static_cast<size_t>(op)].name));
  }
  uint32_t path = kNowhere;
  for (auto name = chain_.rbegin(); name != chain_.rend(); ++name) path = Child(path, *name);
  return path;
}

uint32_t OperatorPaths::Child(uint32_t parent, uint32_t name) {
  const uint64_t key = uint64_t{parent} << 32 | name;
  const auto [found, added] = children_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
  if (added) nodes_.push_back({parent, name});
  return found->second;
}

std::string OperatorPaths::Text(uint32_t path) const {
  std::vector<std::string_view> elements;
  for (; path != kNowhere; path = nodes_[path].parent) {
    const uint32_t name = nodes_[path].name;
    elements.push_back(name == kGraphName ? std::string_view("graph") : host_.NameOf(name));
  }
  std::reverse(elements.begin(), elements.end());
  return PathText(elements);
}

}  // namespace perfgate
