// Small traces, read from text.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.h"
#include "trace_builder.h"

namespace perfgate {

inline TraceData Read(std::string_view json, std::string_view name = "trace.json") {
  const ScratchFile file(name, json);
  return TryReadTrace(file.path());
}

inline TraceData ReadOne(std::string_view event) {
  TraceBuilder builder;
  return Read(builder.Raw(std::string(event)).Json());
}

inline constexpr std::string_view kOp =
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 10.250, "dur": 3})";

}  // namespace perfgate
