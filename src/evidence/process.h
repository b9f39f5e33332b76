// What one trace file proves about one process.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "evidence/window.h"
#include "trace/trace.h"

namespace perfgate {

struct ProcessEvidence {
  Window window;
  std::map<MetricId, std::vector<double>> values;  // one number a step
  std::map<MetricId, std::string> unavailable;
  std::vector<KernelRow> kernels, transfers, syncs;
  std::vector<OperatorRow> operators;
  std::vector<CollectiveRow> collectives;
  IdleTimes idle;
  TimeLine time_line;
  int64_t pre_window = 0;
  int64_t link_bytes = 0;  // of what ties records to each other, all of it together
  bool gpu = false;
  std::vector<int> devices;  // GPU ordinals that ran work, the busiest first
  std::vector<std::string> incomplete, notes, explain;

  std::vector<double>& Steps(MetricId id) {
    std::vector<double>& steps = values[id];
    steps.resize(window.steps.size());
    return steps;
  }
};

// `gpu_expected`: the case or its samples say that it runs on a GPU. `harness_syncs_outside`: the
// writer keeps its own synchronising outside the steps, so that any inside is the workload's.
ProcessEvidence ExtractProcess(const TraceData& trace, bool gpu_expected,
                               bool harness_syncs_outside);

}  // namespace perfgate
