// The sections of a case on the HTML page, in their order. Each is "" where there is nothing to
// show.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "judge/judge.h"
#include "report/layout.h"
#include "trend/trend.h"

namespace perfgate::html {

// What a section may show of a case beyond its verdict; either side may be unknown.
struct Sides {
  const Evidence* base = nullptr;
  const Evidence* head = nullptr;
};

// "bad", "look" or "good": the colour of a status.
std::string_view ClassOf(Status status);
std::string StatusMark(Status status, std::string_view words);  // in its colour

// What must be seen whatever the verdict: incomplete evidence, planted defects, fallbacks, other
// keys, notes.
std::string Circumstances(const CaseVerdict& item);
// Trouble in full, the rest in folded tables.
std::string Findings(const RuleNames& names, const CaseVerdict& item);
std::string Answers(const Diff& diff);
std::string Changes(const Diff& diff);
// One step of both sides on one scale of time.
std::string Lanes(const Sides& sides, const Diff* diff);
// The latencies of the timed windows, a row a process.
std::string Latency(const Sides& sides);
// Kernels, copies and fills, and synchronising calls of both sides in one table each.
std::string Kernels(const Sides& sides, const Diff* diff);
// Ranks and collectives of each side.
std::string Communication(const Sides& sides);
// The outputs of head and how far they are from the reference's: a baseline has none.
std::string Numerics(const Sides& sides);
std::string MetricsOf(const Sides& sides);
std::string Environment(const Sides& sides);
// Of one case and key: a row for each metric that varied.
std::string Trends(std::span<const Trend> trends);
std::string LeftOut(const Sides& sides);

}  // namespace perfgate::html
