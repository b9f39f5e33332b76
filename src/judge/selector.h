// Whether a kernel row is what a selector asks for: yes, no, or its name does not say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "declare/declare.h"
#include "evidence/evidence.h"

namespace perfgate {

enum class Answer3 { kNo, kUnknown, kYes };

struct Selection {
  Answer3 answer = Answer3::kYes;
  std::string_view field;  // what is not known: "in_dtype"
};

// One "no" is a no whatever else is unknown. `covers` gives opaque kernels their operators.
Selection Select(const KernelSelector& selector, const KernelRow& row,
                 const std::map<std::string, std::vector<std::string>>& covers);

// The operators of a row: those of the first glob of `covers` that matches its exact or canonical
// name, else those that its name says. nullptr for an opaque kernel that nothing covers.
const std::vector<std::string>* OperatorsOf(
    const KernelRow& row, const std::map<std::string, std::vector<std::string>>& covers);

// "family gemm, in_dtype bf16": for messages.
std::string ToText(const KernelSelector& selector);

// A kernel's name for a message: short, printable.
std::string ShownName(const KernelRow& row);

}  // namespace perfgate
