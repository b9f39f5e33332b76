// Reading the events of one document in parts.
#include "trace/handler.h"

namespace perfgate {

void TraceHandler::EnterEvents() {
  depth_ = 2;
  event_depth_ = 3;
  in_events_ = true;
  in_args_ = false;
  section_ = Section::kOther;
  field_ = arg_ = Field::kNone;
}

bool TraceHandler::Add(const TraceHandler& part) {
  // Which reasons come first decides which are named.
  if (left_out_.size() + part.left_out_.size() >= kMostReasons) return false;
  std::string& accelerator = trace_.other_accelerator;
  if (accelerator.empty()) accelerator = part.trace_.other_accelerator;
  if (!part.trace_.other_accelerator.empty() && part.trace_.other_accelerator != accelerator) {
    return false;
  }
  trace_.gpu_rows |= part.trace_.gpu_rows;
  for (const auto& [reason, count] : part.left_out_) left_out_[reason] += count;
  trace_.events_read += part.trace_.events_read;
  fractions_seen_ |= part.fractions_seen_;
  kept_ += part.kept_;
  without_start_ += part.without_start_;
  negative_ += part.negative_;
  unfinished_ += part.unfinished_;
  not_utf8_ += part.not_utf8_;
  not_objects_ += part.not_objects_;
  merged_ += part.merged_;
  lost_ += part.lost_;
  nameless_ += part.nameless_;
  facts_.halves += part.facts_.halves;
  return true;
}

void TraceHandler::ForgetTables() {
  process_ = thread_ = {};
  shapes_.clear();
  messages_.clear();
  signatures_.clear();
}

}  // namespace perfgate
