// Names decoded once for all rows.
#include <map>
#include <set>
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

// The floating types of the tensors in "[c10::BFloat16, float, long int, Scalar]", each once:
// "bf16+fp32"; "" if there are none, or one is not told.
std::string FloatingTypes(std::string_view input_types) {
  if (input_types.size() < 2) return "";
  std::set<std::string> types;
  for (const std::string& input : Split(input_types.substr(1, input_types.size() - 2), ',')) {
    const std::string_view type = Trim(input);
    if (type.empty() || type == "Scalar" || type == "ScalarList") continue;
    const std::string_view element = DtypeOf(type);
    if (element.starts_with("int") || element.starts_with("uint") || element == "bool") continue;
    if (element.empty()) return "";
    types.emplace(element);
  }
  return Join(std::vector<std::string>(types.begin(), types.end()), "+");
}

// Generated code has its types compiled in, so those of the first call are those of all. An
// operator's later calls may have others.
bool IsGenerated(const KernelRow& row) {
  return row.device == "cpu" ? ClassifyOperator(row.name) == OperatorKind::kFused
                             : row.info.library == "inductor";
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
      if (!row.info.in_dtype.empty() || !IsGenerated(row)) continue;
      row.info.in_dtype = FloatingTypes(row.input_types);
    }
  }
}

}  // namespace perfgate
