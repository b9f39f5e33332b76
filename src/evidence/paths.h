// Operator paths: each different chain of operators once, as a number.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "evidence/host.h"

namespace perfgate {

class OperatorPaths {
 public:
  static constexpr uint32_t kNowhere = 0;  // the path of no operator: ""

  explicit OperatorPaths(const HostTree& host) : host_(host) {}

  // The path of an operator, its outermost ancestor first; kNowhere for kNoOperator. Operators that
  // generated code numbered share the path of their name without the number.
  uint32_t Of(int32_t op);
  // "graph": work of a graph launch without an operator around it.
  uint32_t Graph() { return Child(kNowhere, kGraphName); }
  // "aten::linear > aten::addmm". See PathText().
  std::string Text(uint32_t path) const;

 private:
  static constexpr uint32_t kGraphName = UINT32_MAX;
  struct Node {
    uint32_t parent, name;
  };

  uint32_t Child(uint32_t parent, uint32_t name);

  const HostTree& host_;
  std::vector<Node> nodes_{Node{0, 0}};
  std::unordered_map<uint64_t, uint32_t> children_;  // by parent and name
  std::vector<uint32_t> chain_;
};

}  // namespace perfgate
