#include "cupti/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace perfgate::cupti {
namespace {

// Of CUPTI 13 and 12 alike; newer layouts only add to its end.
static_assert(offsetof(CUpti_ActivityOverhead, overheadKind) == 4 &&
              offsetof(CUpti_ActivityOverhead, start) == 24 &&
              offsetof(CUpti_ActivityOverhead, end) == 32);

std::string_view OverheadName(CUpti_ActivityOverheadKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "Driver Compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "Buffer Flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "Instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "Resource";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "Runtime Triggered Module Loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "Lazy Function Loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "Command Buffer Full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
      return "Activity Buffer Request";
    default:
      return "Unrecognized";
  }
}

}  // namespace

void Recorder::Read(const FilledBuffer& buffer) {
  CUpti_Activity* record = nullptr;
  while (api_.cuptiActivityGetNextRecord(buffer.data, buffer.used_bytes, &record) ==
         CUPTI_SUCCESS) {
    ReadRecord(*record);
  }
}

void Recorder::ReadRecord(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return ReadCall(reinterpret_cast<const CUpti_ActivityAPI&>(record),
                      record.kind == CUPTI_ACTIVITY_KIND_DRIVER);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return ReadOverhead(reinterpret_cast<const CUpti_ActivityOverhead&>(record));
    default:
      GpuWork work;
      if (DecodeGpuWork(record, names_, work)) AddGpuWork(work);
  }
}

void Recorder::ReadCall(const CUpti_ActivityAPI& call, bool is_driver) {
  const CallInfo* info = calls_.Find(is_driver, call.cbid);
  if (info != nullptr && !info->recorded) return;
  const bool owes_work = OwesWork(call, info);
  const auto start_ns = static_cast<int64_t>(call.start);
  if (start_ns < opened_ns_) {
    last_before_ = std::max(last_before_, call.correlationId);
    return;
  }
  if (start_ns > closed_ns_) return;
  ++calls_read_;
  first_inside_ = std::min(first_inside_, call.correlationId);
  last_inside_ = std::max(last_inside_, call.correlationId);
  Count(call.correlationId, owes_work);
  if (is_driver) {
    if (!runtime_ids_.Contains(call.correlationId)) driver_calls_[call.correlationId] = call;
    return;
  }
  runtime_ids_.Insert(call.correlationId);
  driver_calls_.erase(call.correlationId);
  WriteCall(call, false);
}

bool Recorder::OwesWork(const CUpti_ActivityAPI& call, const CallInfo* info) {
  if (info == nullptr) return false;
  if (info->ends_capture) capturing_.erase(call.threadId);
  if (call.returnValue != 0) return false;
  if (info->begins_capture) capturing_.insert(call.threadId);
  return info->launches && !capturing_.contains(call.threadId);
}

void Recorder::Count(uint32_t correlation, bool launches) {
  if (!launches || !launch_ids_.Insert(correlation)) return;
  if (!gpu_ids_.Contains(correlation)) ++outstanding_;
}

void Recorder::ReadOverhead(const CUpti_ActivityOverhead& overhead) {
  const auto start_ns = static_cast<int64_t>(overhead.start);
  if (start_ns < opened_ns_ || start_ns > closed_ns_) return;
  line_.Raw("{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"");
  line_.Raw(OverheadName(overhead.overheadKind)).Raw("\",\"pid\":-1,\"tid\":0,\"ts\":");
  line_.Micros(start_ns - base_ns_).Raw(",\"dur\":");
  line_.Micros(static_cast<int64_t>(overhead.end) - start_ns).Raw("}");
  WriteLine();
}

void Recorder::AddGpuWork(GpuWork& work) {
  ++gpu_work_read_;
  work.given_up = forced_ && !work.HasTime();
  if (opened_ns_ == INT64_MAX) return;
  if (work.correlation != 0 && work.correlation <= last_before_) return;
  kernels_ += work.kind == GpuWork::Kind::kKernel;
  if (gpu_ids_.Insert(work.correlation) && launch_ids_.Contains(work.correlation)) --outstanding_;
  if (closed_ns_ == INT64_MAX) {
    WriteWork(work);
  } else {
    held_.push_back(work);
  }
}

void Recorder::DropOtherWork() {
  std::erase_if(held_, [this](const GpuWork& work) {
    const bool known = work.correlation != 0;  // else whose it is nobody can say
    return known && (work.correlation < first_inside_ || work.correlation > last_inside_);
  });
}

void Recorder::WriteWork(const GpuWork& work) {
  unfinished_ += work.given_up;
  WriteGpuWork(work, names_, base_ns_, line_);
  WriteLine();
}

void Recorder::WriteCall(const CUpti_ActivityAPI& call, bool is_driver) {
  const CallInfo* info = calls_.Find(is_driver, call.cbid);
  const auto start_ns = static_cast<int64_t>(call.start);
  line_.Raw("{\"ph\":\"X\",\"cat\":\"").Raw(is_driver ? "cuda_driver" : "cuda_runtime");
  line_.Raw("\",\"name\":\"").Raw(info == nullptr || info->name.empty() ? "unknown" : info->name);
  line_.Raw("\",\"pid\":").Number(call.processId).Raw(",\"tid\":").Number(call.threadId);
  line_.Raw(",\"ts\":").Micros(start_ns - base_ns_).Raw(",\"dur\":");
  line_.Micros(static_cast<int64_t>(call.end) - start_ns).Raw(",\"args\":{\"cbid\":");
  line_.Number(call.cbid).Raw(",\"correlation\":").Number(call.correlationId).Raw("}}");
  WriteLine();
}

void Recorder::Write(const Range& range) {
  const std::string name =
      range.step < 0 ? *range.name : "ProfilerStep#" + std::to_string(range.step);
  line_.Raw("{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":").Raw(Quoted(name));
  line_.Raw(",\"pid\":").Number(::getpid()).Raw(",\"tid\":").Number(range.thread);
  line_.Raw(",\"ts\":").Micros(range.start_ns - base_ns_).Raw(",\"dur\":");
  line_.Micros(range.end_ns - range.start_ns).Raw("}");
  WriteLine();
}

void Recorder::WriteLine() {
  full_ |= file_.events() >= most_events_;
  if (!full_) file_.Event(line_.text());
  line_.Clear();
}

void Recorder::Finish() {
  std::vector<const CUpti_ActivityAPI*> calls;
  calls.reserve(driver_calls_.size());
  for (const auto& [id, call] : driver_calls_) calls.push_back(&call);
  std::sort(calls.begin(), calls.end(),
            [](const auto* a, const auto* b) { return a->correlationId < b->correlationId; });
  for (const CUpti_ActivityAPI* call : calls) WriteCall(*call, true);
  DropOtherWork();
  for (const GpuWork& work : held_) WriteWork(work);
  driver_calls_.clear();
  held_.clear();
}

}  // namespace perfgate::cupti
