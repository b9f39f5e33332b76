// Do two traces have the same input shapes?
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

// "512, 1024" -> {512, 1024}; empty for anything but whole numbers above 0.
std::vector<int64_t> Sizes(std::string_view tensor) {
  std::vector<int64_t> sizes;
  for (size_t comma = 0; comma != std::string_view::npos;) {
    comma = tensor.find(',');
    const std::string_view text = Trim(tensor.substr(0, comma));
    tensor.remove_prefix(comma == std::string_view::npos ? tensor.size() : comma + 1);
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || end != text.data() + text.size() || size <= 0) return {};
    sizes.push_back(size);
  }
  return sizes;
}

// Where its first factor stands among the inputs: aten::addmm names what is added first.
std::optional<size_t> FirstFactor(std::string_view op) {
  static constexpr std::array<std::string_view, 3> kPlain = {"aten::mm", "aten::bmm",
                                                             "aten::_scaled_mm"};
  static constexpr std::array<std::string_view, 3> kAdding = {"aten::addmm", "aten::baddbmm",
                                                              "aten::_addmm_activation"};
  if (std::find(kPlain.begin(), kPlain.end(), op) != kPlain.end()) return 0;
  if (std::find(kAdding.begin(), kAdding.end(), op) != kAdding.end()) return 1;
  return std::nullopt;
}

// Rows of all groups one after the other, times a matrix for each group.
std::optional<ProductSize> GroupedProductOf(std::string_view dims) {
  const std::vector<std::string_view> tensors = Tensors(dims);
  if (tensors.size() < 2) return std::nullopt;
  const std::vector<int64_t> left = Sizes(tensors[0]), right = Sizes(tensors[1]);
  if (left.size() != 2 || right.size() != 3 || left[1] != right[1]) return std::nullopt;
  return ProductSize{1, left[0], left[1], right[2], right[0]};
}

// In floating point: what a hostile file claims may not fit when multiplied.
double CallsOf(const OperatorRow& row) {
  return static_cast<double>(SaturatingSum(row.count_per_step));
}

bool HasSteps(const Evidence& evidence) {
  return std::any_of(evidence.steps.begin(), evidence.steps.end(),
                     [](int steps) { return steps > 0; });
}

}  // namespace

std::vector<std::string_view> Tensors(std::string_view dims, int depth) {
  std::vector<std::string_view> tensors;
  int level = 0;
  size_t begin = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == '[' && ++level == depth) begin = i + 1;
    if (dims[i] == ']' && level-- == depth) tensors.push_back(dims.substr(begin, i - begin));
  }
  return tensors;
}

int64_t ElementsOf(std::string_view tensor) {
  const std::vector<int64_t> sizes = Sizes(tensor);
  int64_t product = sizes.empty() ? 0 : 1;
  for (const int64_t size : sizes) {
    if (product > INT64_MAX / size) return 0;
    product *= size;
  }
  return product;
}

std::optional<ProductSize> ProductOf(std::string_view op, std::string_view dims) {
  if (op == "aten::_grouped_mm" || op == "aten::_scaled_grouped_mm") return GroupedProductOf(dims);
  const std::optional<size_t> first = FirstFactor(op);
  if (!first) return std::nullopt;
  const std::vector<std::string_view> tensors = Tensors(dims);
  if (tensors.size() < *first + 2) return std::nullopt;
  std::vector<int64_t> left = Sizes(tensors[*first]), right = Sizes(tensors[*first + 1]);
  if (left.size() == 2 && right.size() == 2) {
    left.insert(left.begin(), 1);
    right.insert(right.begin(), 1);
  }
  if (left.size() != 3 || right.size() != 3) return std::nullopt;
  if (left[2] != right[1] || left[0] != right[0]) return std::nullopt;
  return ProductSize{left[0], left[1], left[2], right[2], left[0]};
}

// The same operator may be given an output tensor more (aten::addmm under torch.compile), so only
// the leading tensors that both have are compared.
std::string DifferentShapes(const Evidence& base, const Evidence& head) {
  bool base_marked = HasSteps(base);
  bool head_marked = HasSteps(head);
  if (base_marked != head_marked) {
    return fmt::format(
        "the {} marks its steps and the {} does not, so that its numbers are of a "
        "window of unknown length; mark the steps of both",
        base_marked ? "base" : "head", base_marked ? "head" : "base");
  }
  std::unordered_map<std::string_view, const OperatorRow*> of_head;
  for (const OperatorRow& row : head.operators) of_head.emplace(row.name, &row);
  int base_steps = std::max(1, base.TotalSteps());
  int head_steps = std::max(1, head.TotalSteps());
  for (const OperatorRow& row : base.operators) {
    if (row.kind != OperatorKind::kComputing || row.input_dims.empty()) continue;
    auto found = of_head.find(row.name);
    if (found == of_head.end() || found->second->input_dims.empty()) continue;
    if (CallsOf(row) * head_steps != CallsOf(*found->second) * base_steps) continue;
    const std::vector<std::string_view> from = Tensors(row.input_dims);
    const std::vector<std::string_view> to = Tensors(found->second->input_dims);
    // Keys and values may have other shapes for the same queries: heads that were repeated.
    const bool attention = row.name.find("attention") != std::string::npos;
    const size_t common = attention ? 1 : std::min(from.size(), to.size());
    for (size_t i = 0; i < std::min({common, from.size(), to.size()}); ++i) {
      if (from[i].empty() || to[i].empty() || from[i] == to[i]) continue;
      return fmt::format("{} is called with [{}] in the base and with [{}] in the head",
                         Printable(row.name), Printable(from[i]), Printable(to[i]));
    }
    return "";
  }
  return "";
}

}  // namespace perfgate
