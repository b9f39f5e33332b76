#include "evidence/time_line.h"

#include <fmt/format.h>

#include <algorithm>

namespace perfgate {
namespace {

// Of the host and of the GPU each.
constexpr size_t kMostSpans = 10'000;
constexpr int kDeepestSpan = 3;

}  // namespace

uint32_t TimeLineMaker::Text(std::string_view text) {
  const auto [known, fresh] =
      texts_.try_emplace(std::string(text), static_cast<uint32_t>(line_.texts.size()));
  if (fresh) line_.texts.emplace_back(text);
  return known->second;
}

void TimeLineMaker::Add(const TraceEvent& event, std::string_view lane, std::string_view path,
                        std::string_view dims, int depth) {
  Span span;
  span.name = Text(trace_.Text(event.name));
  span.lane = Text(lane);
  span.op_path = Text(path);
  span.input_dims = Text(dims);
  span.depth = depth;
  span.gpu = event.IsGpuWork();
  span.call = event.IsCall();
  span.start_ns = event.start_ns - step_.start_ns;
  span.duration_ns = std::max<int64_t>(0, event.EndNs() - event.start_ns);
  line_.spans.push_back(span);
}

void TimeLineMaker::AddWork(const TraceEvent& work, int step, std::string_view path,
                            std::string_view dims) {
  if (step != number_) return;
  if (++works_ > kMostSpans) {
    ++line_.left_out;
    return;
  }
  Add(work, fmt::format("GPU {}, stream {}", work.device, work.stream), path, dims, 0);
}

void TimeLineMaker::AddHost(const HostTree& host) {
  line_.step_ns = step_.end_ns - step_.start_ns;
  std::unordered_map<int32_t, int> depths;  // of the operators that are drawn
  size_t taken = 0;
  const auto in_step = [&](const TraceEvent& event) {
    return event.start_ns >= step_.start_ns && event.start_ns < step_.end_ns;
  };
  // The depth below what is drawn; nothing where its operator is not drawn: too deep.
  const auto depth_of = [&](int32_t parent) {
    if (parent == kNoOperator) return 0;
    const auto around = depths.find(parent);
    if (around != depths.end()) return around->second + 1;
    return in_step(trace_.events[static_cast<size_t>(parent)]) ? kDeepestSpan + 1 : 0;
  };
  for (const uint32_t index : host.order) {
    const TraceEvent& event = trace_.events[index];
    const bool op = event.kind == EventKind::kOperator;
    if (!in_step(event) || (op && host.KindOf(event) == OperatorKind::kCompiler)) continue;
    const int depth = depth_of(host.parent[index]);
    if (depth > kDeepestSpan) continue;
    if (++taken > kMostSpans) {
      ++line_.left_out;
      continue;
    }
    if (op) depths.emplace(static_cast<int32_t>(index), depth);
    Add(event, fmt::format("CPU, thread {}", trace_.Text(event.thread)), "",
        op ? trace_.InputDims(event) : "", depth);
  }
}

}  // namespace perfgate
