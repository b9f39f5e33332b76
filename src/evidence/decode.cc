// Names decoded once for all rows.
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "evidence/evidence.h"

namespace perfgate {
namespace {

KernelInfo DecodeRow(const KernelRow& row) {
  KernelInfo info = DecodeKernelName(row.name);
  if (row.device != "cpu") return info;
  // An operator of the CPU: its own word is its set, so that all spellings compare.
  if (ClassifyOperator(row.name) != OperatorKind::kFused) info.ops = {OperatorWord(row.name)};
  return info;
}

}  // namespace

void DecodeRows(Evidence& evidence) {
  for (std::vector<KernelRow>* rows : {&evidence.kernels, &evidence.transfers}) {
    std::map<std::pair<std::string_view, bool>, const KernelInfo*> decoded;
    for (KernelRow& row : *rows) {
      const KernelInfo*& known = decoded[{row.name, row.device == "cpu"}];
      row.info = known != nullptr ? *known : DecodeRow(row);
      if (known == nullptr) known = &row.info;
    }
  }
}

}  // namespace perfgate
