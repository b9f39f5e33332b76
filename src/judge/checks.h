// The checks, one function a kind. Each fills status, message and numbers of findings whose rule
// and case are set already; waivers and severities come later (judge.cc).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/case_facts.h"
#include "judge/judge.h"

namespace perfgate {

// limit, change, regression and history: one finding a metric.
std::vector<Finding> CheckMetrics(const Rule& rule, const CaseFacts& facts, const Finding& blank);
// One metric, compared in pairs of processes of base and head.
Finding CheckRegression(const RegressionCheck& check, const Rule& rule, const CaseFacts& facts,
                        Finding finding);
// One metric against the stored sessions of a branch.
Finding CheckHistory(const HistoryCheck& check, const Rule& rule, const CaseFacts& facts,
                     Finding finding);
// A limit on relative_error or max_abs_error: of the output that is worst by its bound.
Finding CheckOutputErrors(const LimitCheck& check, const Rule& rule, const CaseFacts& facts,
                          Finding finding);
// relative_error or max_abs_error.
bool IsOutputError(MetricId id);
// Missing, as a baseline is, where a base has no such metric of outputs; nothing where it has.
std::optional<Finding> OutputsNotInBase(const Rule& rule, const CaseFacts& facts,
                                        const Finding& blank);
// Says which outputs were compared and are held to no bound, by element type.
void NoteUnjudgedOutputs(std::span<const Rule> rules, const CasePair& pair,
                         std::vector<std::string>& notes);
// Points a finding on nan_count or inf_count at the first output that has one.
void PointAtNotFinite(const Evidence& evidence, Finding& finding);
Finding CheckKernels(const Rule& rule, const CaseFacts& facts, Finding finding);
Finding CheckFusion(const Rule& rule, const CaseFacts& facts, Finding finding);
Finding CheckChanges(const Rule& rule, const CaseFacts& facts, Finding finding);

// The built-in finding on work that vanished: kernels, cpu_kernels, gpu_time or comm_time above 0
// in the baseline and now zero or less than half. Nothing if none did.
std::optional<Finding> CheckVanished(const CaseFacts& facts);

// Helpers of the checks.
// Why the rule says nothing about the case at all; "" if it does.
std::string NotForThisCase(const Rule& rule, const CasePair& pair);
// A metric that the case does not have, with the reason.
Finding Unavailable(const Rule& rule, const CaseFacts& facts, Finding finding,
                    const std::string& reason);
// Why a time of the timed window proves nothing; "" if it does.
std::string WhyDoubtful(const Evidence& evidence, MetricId id, double value);
Finding With(Finding finding, Status status, std::string message, std::string next = "");
// "1", "at most 3", "at least 1, at most 3"
std::string ToString(const CountBound& bound);
bool Holds(const CountBound& bound, int64_t count);
// Points the finding at changes of the diff: indices and the operators behind them.
void PointAt(const Diff& diff, std::vector<int> changes, Finding& finding);

}  // namespace perfgate
