#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "evidence/gpu_links.h"

namespace perfgate {
namespace {

std::string Launches(int64_t count) { return Plural(count, "launch", "launches"); }

std::string Activities(int64_t count) { return Plural(count, "GPU activity", "GPU activities"); }

void Explain(int64_t count, const std::string& counted, std::string_view what,
             ProcessEvidence& evidence) {
  if (count > 0) evidence.explain.push_back(fmt::format("{} {}", counted, what));
}

std::string_view Lost(const TraceData& trace) {
  return trace.incomplete.empty() ? ": records were lost"
                                  : ", which may stand in the part that is missing";
}

// Launches that own no GPU work.
struct WithoutWork {
  int64_t captured = 0, outside = 0, missing = 0;
  std::string_view first_missing;  // its name
};

WithoutWork LaunchesWithoutWork(const TraceData& trace, const GpuLinks& links) {
  WithoutWork without;
  for (const LaunchCall& call : links.calls) {
    if (!LaunchesKernels(call.kind)) continue;
    if (call.captured) {
      ++without.captured;
    } else if (!call.owns_work && call.step < 0) {
      ++without.outside;
    } else if (!call.owns_work && without.missing++ == 0) {
      without.first_missing = trace.Text(trace.events[call.event].name);
    }
  }
  return without;
}

void ReportMissing(const TraceData& trace, const LinkFindings& findings, const WithoutWork& without,
                   ProcessEvidence& evidence) {
  const int64_t missing = findings.unnumbered_launches + without.missing;
  const bool unnumbered = findings.unnumbered_launches > 0;
  if (missing > 0) {
    evidence.incomplete.push_back(fmt::format(
        "{} without GPU work in the trace (first: {}){}", Launches(missing),
        unnumbered ? "one without a correlation" : Printable(without.first_missing), Lost(trace)));
  }
  if (findings.orphans > 0) {
    const TraceEvent& event = trace.events[findings.first_orphan];
    evidence.incomplete.push_back(fmt::format(
        "{} without a launch call in the trace (first: {}): records were lost, or the work was "
        "launched by a call that the profiler does not record",
        Activities(findings.orphans), Printable(trace.Text(event.name).substr(0, 120))));
  }
}

// A call of no bytes leaves no record, so that one without says nothing where others have theirs.
// Where none has, copies or fills were not recorded, or all were of no bytes: nothing tells which,
// so that neither they nor GPU time are known. What other runtimes leave out is not known.
void ReportTransfers(const TraceData& trace, const GpuLinks& links, bool fills,
                     ProcessEvidence& evidence) {
  int64_t asked = 0;
  std::string_view first;
  for (const LaunchCall& call : links.calls) {
    if (LaunchesKernels(call.kind) || !IsLaunch(call.kind)) continue;
    const std::string_view name = trace.Text(trace.events[call.event].name);
    if (!name.starts_with("cu") || (name.find("Memset") != std::string_view::npos) != fills) {
      continue;
    }
    if (call.owns_work) return;
    if (call.step >= 0 && !call.captured && asked++ == 0) first = name;
  }
  if (asked == 0) return;
  evidence.incomplete.push_back(fmt::format(
      "{} asked for (first: {}), and the trace holds no record of one{}{}",
      fills ? Plural(asked, "fill was", "fills were") : Plural(asked, "copy was", "copies were"),
      Printable(first), Lost(trace),
      trace.incomplete.empty() ? ", or each was of no bytes and leaves none" : ""));
}

void ReportCollisions(const LinkFindings& findings, ProcessEvidence& evidence) {
  if (findings.collisions == 0) return;
  evidence.incomplete.push_back(fmt::format(
      "{} numbered like another launch: the file seems to hold several ranks or processes, give "
      "one trace a process",
      Plural(findings.collisions, "launch is", "launches are")));
}

void ReportTimes(const GpuLinks& links, const LinkFindings& findings, ProcessEvidence& evidence) {
  if (findings.untimed == 0) return;
  const auto total = static_cast<int64_t>(links.work.size());
  const std::string text = fmt::format("{} of {} GPU activities have no time (0/0: not collected)",
                                       findings.untimed, total);
  if (findings.untimed * 1000 > total) {
    evidence.incomplete.push_back(text);
  } else {
    evidence.notes.push_back(text + ": counted, but not timed");
  }
}

}  // namespace

void ReportLinks(const TraceData& trace, const GpuLinks& links, const LinkFindings& findings,
                 ProcessEvidence& evidence) {
  const WithoutWork without = LaunchesWithoutWork(trace, links);
  ReportMissing(trace, findings, without, evidence);
  for (const bool fills : {false, true}) ReportTransfers(trace, links, fills, evidence);
  ReportCollisions(findings, evidence);
  ReportTimes(links, findings, evidence);
  Explain(evidence.pre_window, Activities(evidence.pre_window),
          "launched before the window: not counted", evidence);
  Explain(findings.outside, Activities(findings.outside),
          "launched outside the marked steps: not counted", evidence);
  Explain(findings.duplicates, Plural(findings.duplicates, "GPU record"),
          "that the trace holds twice: each counted once", evidence);
  Explain(without.captured, Launches(without.captured),
          "recorded into a graph, which ran nothing then: not counted", evidence);
  Explain(without.outside, Launches(without.outside),
          "outside the marked steps without GPU work in the trace: not counted", evidence);
  if (findings.outside > 0) {
    evidence.notes.push_back(fmt::format("{} launched outside the marked steps, not counted",
                                         Activities(findings.outside)));
  }
  if (findings.by_external_id) {
    evidence.notes.push_back("no correlations: launches are joined by External id");
  }
}

}  // namespace perfgate
