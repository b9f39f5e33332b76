// Names decoded once for all rows.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
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

// The floating type of all tensors in "[c10::BFloat16, c10::BFloat16, long int, Scalar]": "bf16";
// "" if they are of several, of none, or of one that is not told.
std::string FloatingType(std::string_view input_types) {
  if (input_types.size() < 2) return "";
  std::string one;
  for (const std::string& input : Split(input_types.substr(1, input_types.size() - 2), ',')) {
    const std::string_view type = Trim(input);
    if (type.empty() || type == "Scalar" || type == "ScalarList") continue;
    const std::string_view element = DtypeOf(type);
    if (element.starts_with("int") || element.starts_with("uint") || element == "bool") continue;
    if (element.empty() || (!one.empty() && one != element)) return "";
    one = element;
  }
  return one;
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
    // Code that was generated says no type in its name: its operator does.
    for (KernelRow& row : *rows) {
      if (row.info.in_dtype.empty()) row.info.in_dtype = FloatingType(row.input_types);
    }
  }
}

}  // namespace perfgate
