// Evidence of a case from traces of its processes, made by hand.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "evidence/evidence.h"
#include "trace_builder.h"

namespace perfgate {

inline Case Declared(std::string name = "geglu") {
  Case declared;
  declared.name = std::move(name);
  declared.argv = {"true"};
  declared.digest = "0123456789abcdef";
  declared.windows.traced_iterations = 1;
  return declared;
}

class CaseEvidence : public testing::Test {
 protected:
  AttemptData& Add(const TraceBuilder* trace, int process = 0) {
    AttemptData data;
    data.attempt.case_name = "geglu";
    data.attempt.process = process;
    data.samples.emplace();
    if (trace != nullptr) {
      files_.emplace_back("trace.json", trace->Json());
      data.traces.push_back({files_.back().path(), {}});
    }
    attempts_.push_back(std::move(data));
    return attempts_.back();
  }

  Evidence Run(const Case& declared = Declared()) const {
    return Extract(declared, attempts_, "/out", {{"cpu", "EPYC"}, {"cpu_isa", "avx2"}});
  }

  std::deque<ScratchFile> files_;
  std::vector<AttemptData> attempts_;
};

inline TraceBuilder Launches(int count, const std::string& name = "gemm") {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000);
  for (int i = 0; i < count; ++i) builder.Launch(name, 10'000 + i * 5000, i + 1);
  return builder;
}

}  // namespace perfgate
