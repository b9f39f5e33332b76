// What a person does next: commands to type, with a shell's quoting, and places to edit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judge/judge.h"

namespace perfgate {

// perfgate baseline accept --case 'geglu[mode=aoti]' --rule 'rules/mine.yaml/p50' --reason '…'
std::string AcceptRule(std::string_view case_name, std::string_view rule);
// The same without a rule: the first baseline of a case for this machine and stack.
std::string AcceptFirst(std::string_view case_name);

// Where the rule's own text is changed: "change the bound in rules/mine.yaml:12" or, for a pack's
// rule, an override in a file of one's own. `what` is "the bound", "'covers'" ...
std::string EditRule(const Rule& rule, std::string_view what);
// What `covers` would say of a kernel, as YAML: {"geglu_fwd": [gelu, mul]}
std::string CoversText(std::string_view kernel, const std::vector<std::string>& ops);
// For all rules of a case whose steps differ, in the same words, so that it is said once.
std::string JudgeLargestStep();

}  // namespace perfgate
