// What a trace proves in words, as every form of `perfgate inspect` and the page says it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "evidence/evidence.h"
#include "metric/metric.h"

namespace perfgate {

// One row of the kernel table, everything a step.
struct TimedRow {
  const KernelRow* row = nullptr;
  std::string count;
  double time_ns = 0;
};

// Longest time first, names decide between equals.
std::vector<TimedRow> ByTime(const Evidence& evidence, const std::vector<KernelRow>& rows);

// "12.3 us", or "varies: 2 to 3"; of a metric that has values.
std::string MetricText(const MetricValue& value, const Metric& metric);

// "10 steps in 2 processes"
std::string StepsText(const Evidence& evidence);

// Reasons with the metrics that they concern: most metrics share a few reasons.
std::vector<std::pair<std::string, std::string>> Unavailable(const Evidence& evidence);

// "gemm, tensor core, epilogue bias"
std::string Decoded(const KernelInfo& info);

// "aten::mm, backward of aten::addmm, in LlamaMLP_0 > Linear_4"; of a copy also who asked for it:
// "aten::copy_ for aten::contiguous".
std::string Caller(const KernelRow& row);

// "[[512, 1024], []] of [c10::BFloat16, Scalar], and 2 other shapes"
std::string Inputs(const KernelRow& row);

// "latency, process 1"; of a case with one process "latency".
std::string SeriesName(const TimedSeries& series, const Evidence& evidence);

// "p50 75.1 us (74.2 us to 75.9 us); p95 ...; p99 n/a (200 < 299); steady: yes; 12 outliers, 3 of
// them far"
std::string SeriesText(const TimedSeries& series);

}  // namespace perfgate
