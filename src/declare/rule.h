// One rule and its checks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "declare/declare.h"
#include "declare/reader.h"

namespace perfgate {

// Everything but the ids. The mapping has `id` or `override`, which the caller has read.
Rule ReadRule(const Reader& rule);

// The checks. `metrics` are the rule's, against whose units the numbers are read.
std::optional<LimitCheck> ReadLimit(const Reader& limit, const std::vector<MetricId>& metrics);
std::optional<ChangeCheck> ReadChange(const Reader& change, const std::vector<MetricId>& metrics);
std::optional<RegressionCheck> ReadRegression(const Reader& regression,
                                              const std::vector<MetricId>& metrics);
std::optional<HistoryCheck> ReadHistory(const Reader& history,
                                        const std::vector<MetricId>& metrics);
std::optional<KernelsCheck> ReadKernels(const Reader& kernels);
std::optional<FusionCheck> ReadFusion(const Reader& fusion);
std::optional<ChangesCheck> ReadChanges(const Reader& changes);

// "+3%", "+2us", "+0": a signed step in the units of all `metrics`. `sign` is '+' or '-'.
std::optional<Allowance> ReadAllowance(const Reader& allowance,
                                       const std::vector<MetricId>& metrics, char sign);

// Words of operators, as fused sets have them: "gelu", never "aten::gelu".
std::vector<std::string> ReadOperatorWords(const Reader& words);

}  // namespace perfgate
