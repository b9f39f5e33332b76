// ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...), older ncclKernel_AllReduce_RING_LL_Sum_float(...),
// ncclSymkDevKernel_... of symmetric memory; RCCL has the same names and ncclDevKernel_Generic.
#include <array>
#include <utility>

#include "kernel/families.h"

namespace perfgate {
namespace {

std::string_view Word(std::string_view collective) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWords = {{
      {"AllReduce", "all_reduce"},
      {"AllGather", "all_gather"},
      {"ReduceScatter", "reduce_scatter"},
      {"Broadcast", "broadcast"},
      {"Reduce", "reduce"},
      {"SendRecv", "send_recv"},
      {"AllToAll", "all_to_all"},
  }};
  for (const auto& [text, word] : kWords) {
    if (text == collective) return word;
  }
  return "";
}

}  // namespace

bool DecodeNccl(const NameParts& name, KernelInfo* info) {
  bool nccl =
      name.function.starts_with("nccl") && name.function.find("Kernel") != std::string_view::npos;
  if (!nccl) return false;
  info->family = Family::kCollective;
  info->library = "nccl";
  std::vector<std::string_view> tokens = Tokens(name.function);
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (std::string_view word = Word(tokens[i]); i == 1 && !word.empty()) {
      info->ops = {std::string(word)};
    }
    std::string_view dtype = DtypeOf(tokens[i]);
    if (!dtype.empty()) info->in_dtype = info->out_dtype = dtype;
  }
  info->short_name = "nccl " + (info->ops.empty() ? std::string("kernel") : info->ops[0]);
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
  return true;
}

}  // namespace perfgate
