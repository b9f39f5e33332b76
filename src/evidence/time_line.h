// One step of a process as a report draws it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "evidence/evidence.h"
#include "evidence/host.h"
#include "evidence/window.h"
#include "trace/trace.h"

namespace perfgate {

// Takes what belongs to the last step: the furthest from warm-up.
class TimeLineMaker {
 public:
  TimeLineMaker(const TraceData& trace, const Window& window)
      : trace_(trace), step_(window.steps.back()), number_(window.Count() - 1) {}

  // GPU work that was launched in `step`, under the operators `path`, with these shapes.
  void AddWork(const TraceEvent& work, int step, std::string_view path, std::string_view dims);
  // Operators and calls of the host, nested no deeper than kDeepestSpan.
  void AddHost(const HostTree& host);
  TimeLine Take() { return std::move(line_); }

 private:
  uint32_t Text(std::string_view text);
  void Add(const TraceEvent& event, std::string_view lane, std::string_view path,
           std::string_view dims, int depth);

  const TraceData& trace_;
  const Step step_;
  const int number_;
  TimeLine line_;
  size_t works_ = 0;
  std::unordered_map<std::string, uint32_t> texts_;
};

}  // namespace perfgate
