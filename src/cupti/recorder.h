// Turns what CUPTI recorded into the events of one window.
//
// Records come in any order: a kernel may come before the call that launched it. A window is cut by
// its calls: those that began inside it are written, and work on the GPU belongs to it unless a
// later call launched it. Not thread-safe: the worker's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cupti/buffer_pool.h"
#include "cupti/calls.h"
#include "cupti/gpu_work.h"
#include "cupti/id_set.h"
#include "cupti/json_line.h"
#include "cupti/trace_file.h"

namespace perfgate::cupti {

// A range of NVTX that ended; a step of the window if `step` is 0 or more.
struct Range {
  const std::string* name = nullptr;
  int64_t start_ns = 0, end_ns = 0;
  int64_t step = -1;
  uint32_t thread = 0;
};

class Recorder {
 public:
  // Writes to `file`, whose times count from `base_ns`, no more than `most_events`.
  Recorder(const CuptiApi& api, const CallTables& calls, TraceFile& file, int64_t most_events)
      : api_(api), calls_(calls), file_(file), most_events_(most_events) {}

  void SetBase(int64_t base_ns) { base_ns_ = base_ns; }
  // Calls count from here on. INT64_MAX, as at first: none does.
  void SetOpened(int64_t ns) { opened_ns_ = ns; }
  // And up to here. Work on the GPU is from now on held until Finish(), when all calls are known.
  void SetClosed(int64_t ns) { closed_ns_ = ns; }
  // The records to come were given up by CUPTI, finished or not.
  void SetForced() { forced_ = true; }

  void Read(const FilledBuffer& buffer);
  void Write(const Range& range);
  // Forgets held work that a call before or after the window launched. Only once all calls of the
  // window were read.
  void DropOtherWork();
  size_t held() const { return held_.size(); }
  // Writes what was held back.
  void Finish();

  bool full() const { return full_; }
  // No call of the window and no work was recorded.
  bool empty() const { return calls_read_ + kernels_ == 0; }
  int64_t kernels() const { return kernels_; }
  // Launches of the window without work on the GPU so far, but for those of a graph's capture.
  int64_t outstanding() const { return outstanding_; }
  // Counts up with each piece of GPU work that is read.
  int64_t gpu_work_read() const { return gpu_work_read_; }
  // Work of the window that was still running when the records were given up.
  int64_t unfinished() const { return unfinished_; }

 private:
  void ReadRecord(const CUpti_Activity& record);
  void ReadCall(const CUpti_ActivityAPI& call, bool is_driver);
  void ReadOverhead(const CUpti_ActivityOverhead& overhead);
  void AddGpuWork(GpuWork& work);
  // Keeps what thread is inside a capture; true if a call of it that launches owes work.
  bool OwesWork(const CUpti_ActivityAPI& call, const CallInfo* info);
  void Count(uint32_t correlation, bool launches);
  void WriteWork(const GpuWork& work);
  void WriteCall(const CUpti_ActivityAPI& call, bool is_driver);
  void WriteLine();

  const CuptiApi& api_;
  const CallTables& calls_;
  TraceFile& file_;
  const int64_t most_events_;

  int64_t base_ns_ = 0, opened_ns_ = INT64_MAX, closed_ns_ = INT64_MAX;
  bool forced_ = false, full_ = false;
  NameTable names_;
  JsonLine line_;
  IdSet runtime_ids_, launch_ids_, gpu_ids_;
  // Driver calls that may yet turn out to be part of a runtime call, which has the same id.
  std::unordered_map<uint32_t, CUpti_ActivityAPI> driver_calls_;
  std::unordered_set<uint32_t> capturing_;  // threads; the calls of one come in their order
  std::vector<GpuWork> held_;
  uint32_t last_before_ = 0;                              // highest id of a call before the window
  uint32_t first_inside_ = UINT32_MAX, last_inside_ = 0;  // of calls in it
  int64_t calls_read_ = 0, kernels_ = 0, outstanding_ = 0, gpu_work_read_ = 0, unfinished_ = 0;
};

}  // namespace perfgate::cupti
