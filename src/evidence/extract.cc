#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "evidence/evidence.h"
#include "evidence/merge.h"
#include "evidence/outputs.h"
#include "evidence/process.h"
#include "evidence/ranks.h"
#include "trace/trace.h"

namespace perfgate {
namespace {

bool SaysCuda(const std::string& device) { return device.starts_with("cuda"); }

// "; it said last: ValueError: no such file", or "" for a process that said nothing.
std::string LastWords(const AttemptResult& result) {
  constexpr size_t kAtMost = 200;
  const std::string_view said = Trim(result.stderr_tail);
  if (said.empty()) return "";
  const std::string_view line = said.substr(said.rfind('\n') + 1).substr(0, kAtMost);
  return fmt::format("; it said last: {}", Printable(line));
}

class Extractor {
 public:
  Extractor(const Case& declared, std::span<const AttemptData> attempts,
            const std::filesystem::path& out_dir)
      : declared_(declared), attempts_(attempts), out_dir_(out_dir) {
    evidence_.case_name = declared.name;
    evidence_.plant = declared.plant;
    const auto is_head = [](const AttemptData& d) { return d.attempt.side == Side::kHead; };
    side_ = std::any_of(attempts.begin(), attempts.end(), is_head) ? Side::kHead : Side::kBase;
  }

  Evidence Extract(const std::map<std::string, std::string>& machine,
                   std::span<const AttemptData> reference) {
    if (attempts_.empty()) evidence_.incomplete_because.push_back("the case was not run");
    for (const AttemptData& data : attempts_) {
      AddAttempt(data);
      AppendSamples(data, evidence_);
      if (data.attempt.side == side_) AddTraces(data);
    }
    AppendOutputs(declared_, attempts_, reference, out_dir_, evidence_);
    CheckTraced();
    return Finish(machine);
  }

  Evidence ExtractRead(const TraceData& trace) {
    AddAttempt(attempts_.front());
    AddTrace(trace, attempts_.front(), "");
    return Finish({});
  }

 private:
  void AddAttempt(const AttemptData& data) {
    AttemptSummary summary{data.attempt, data.result, {}};
    for (const TraceFile& trace : data.traces) {
      const std::filesystem::path inside = trace.path.lexically_relative(out_dir_);
      const bool outside = inside.empty() || *inside.begin() == "..";
      summary.trace_files.push_back((outside ? trace.path : inside).generic_string());
    }
    evidence_.attempts.push_back(std::move(summary));
    const std::string label = Label(data);
    for (const std::string& fault : data.faults) {
      Incomplete(label, fault == data.result.fault ? fault + LastWords(data.result) : fault);
    }
    if (data.result.outcome != Outcome::kExited || data.result.exit_code != 0) {
      if (data.faults.empty()) {
        Incomplete(label, (data.result.fault.empty() ? "the process failed" : data.result.fault) +
                              LastWords(data.result));
      }
    }
    if (!declared_.plant.empty() && (!data.samples || data.samples->plant != declared_.plant)) {
      AddUnique(
          evidence_.incomplete_because,
          fmt::format("the workload did not put in the planted defect '{}'", declared_.plant));
    }
    if (declared_.plant.empty() && data.samples && !data.samples->plant.empty()) {
      evidence_.plant = data.samples->plant;
    }
  }

  // "base process 1" where a case has several; "" for a lone one.
  std::string Label(const AttemptData& data) const {
    if (attempts_.size() < 2) return "";
    return fmt::format("{}process {}", data.attempt.side == Side::kBase ? "base " : "",
                       data.attempt.process);
  }

  void Incomplete(const std::string& label, const std::string& reason) {
    AddUnique(evidence_.incomplete_because,
              label.empty() ? reason : fmt::format("{}: {}", label, reason));
  }

  bool ExpectsGpu() const {
    if (SaysCuda(declared_.device)) return true;
    return std::any_of(attempts_.begin(), attempts_.end(), [](const AttemptData& data) {
      const auto device = data.samples ? data.samples->environment.find("device")
                                       : std::map<std::string, std::string>::const_iterator();
      return data.samples && device != data.samples->environment.end() && SaysCuda(device->second);
    });
  }

  bool CountsInstructions() const { return declared_.profiler == Profiler::kInstructions; }

  bool KeepsSyncsOutside(const AttemptData& data) const {
    return data.samples && data.samples->environment.contains("writer");
  }

  void AddTraces(const AttemptData& data) {
    if (data.attempt.phase != Phase::kTraced) return;
    const std::string label = Label(data);
    // A process that failed says so already.
    if (data.traces.empty() && data.faults.empty()) Incomplete(label, "no trace was written");
    RollCall ranks;
    bool any_rank = data.traces.size() < 2;
    for (const TraceFile& file : InOrderOfRanks(data.traces)) {
      const std::string name = file.path.filename().string();
      TraceData trace = TryReadTrace(file.path);
      ranks.Add(name, file.rank, trace);
      if (!trace.rank) trace.rank = file.rank;
      any_rank |= trace.rank.has_value();
      std::string who = label;
      if (data.traces.size() > 1) {
        who += who.empty() ? "" : ", ";
        who += trace.rank ? fmt::format("rank {}", *trace.rank) : name;
      }
      if (trace.refused.empty()) {
        AddTrace(trace, data, who);
      } else {
        Incomplete(who, fmt::format("{}: {}", name, trace.refused));
      }
    }
    said_by_ranks_.AppendTo(label, evidence_);
    if (!any_rank) {
      AddUnique(evidence_.notes, fmt::format("{} traces that say no rank: each is taken as a "
                                             "process of its own",
                                             data.traces.size()));
    }
    // A trace that is judged as it is may be that of one rank.
    if (declared_.argv.empty() && data.traces.size() == 1) return;
    if (data.samples) ranks.Expect(data.samples->environment);
    for (const std::string& fault : ranks.Faults()) Incomplete(label, fault);
    CheckSameRanks(std::move(ranks), label);
  }

  // Half of the ranks in one process is half of the work, whatever the others did.
  void CheckSameRanks(RollCall ranks, const std::string& label) {
    if (ranks.Present().empty()) return;
    if (!first_ranks_) {
      first_ranks_ = {label, std::move(ranks)};
    } else if (!ranks.HasRanksOf(first_ranks_->second)) {
      Incomplete("", fmt::format("{} had {}, {} {}", first_ranks_->first,
                                 first_ranks_->second.Present(), label, ranks.Present()));
    }
  }

  void AddTrace(const TraceData& trace, const AttemptData& data, const std::string& label) {
    ProcessEvidence process = ExtractProcess(trace, ExpectsGpu(), KeepsSyncsOutside(data));
    if (process.gpu) ++gpu_processes_;
    for (const int device : process.devices) AddUniqueDevice(device, trace);
    const std::optional<Rank> rank = RankOf(trace, process, data.attempt);
    if (rank && data.traces.size() > 1) NumberOwnDevices(process);
    if (!trace.profiler.empty()) profiler_ = trace.profiler;
    CheckStack(trace, rank.has_value(), process);
    AddTraceKey(trace, process, evidence_);
    CheckSteps(trace, process);
    if (rank && data.traces.size() > 1) said_by_ranks_.Take(rank->rank, process);
    AppendProcess(std::move(process), data.attempt, rank, label, evidence_);
  }

  // One run is one stack. GPUs of ranks may differ: the key holds them all.
  void CheckStack(const TraceData& trace, bool is_rank, ProcessEvidence& process) const {
    Evidence own;
    AddTraceKey(trace, process, own);
    if (is_rank) {
      for (const char* field : {"gpu", "sm_count"}) own.key.fields.erase(field);
    }
    for (const std::string& difference : KeyDifferences(evidence_.key, own.key)) {
      process.incomplete.push_back(
          fmt::format("not the stack of the first traced process: {}", difference));
    }
  }

  // A workload that was asked for a number of steps owes them, whole and in order. What a bare
  // trace or a program that knows nothing of perfgate marks is its own affair.
  void CheckSteps(const TraceData& trace, ProcessEvidence& process) const {
    const bool marks = declared_.profiler == Profiler::kTorch || !declared_.nvtx_steps.empty();
    const bool owed = !declared_.argv.empty() && marks;
    const int asked = declared_.windows.traced_iterations;
    const int marked = process.window.marked ? process.window.Count() : 0;
    if (!process.window.misnumbered.empty()) {
      (owed ? process.incomplete : process.notes).push_back(process.window.misnumbered);
    }
    if (declared_.argv.empty() || marked == asked || (!owed && marked == 0)) return;
    if (marked < asked && !trace.incomplete.empty())
      return;  // the part that is missing may mark them
    (owed && marked < asked ? process.incomplete : process.notes)
        .push_back(
            fmt::format("the trace marks {}, {} were asked for", Plural(marked, "step"), asked));
  }

  // GPUs of ranks are told apart by rank where each sees its own as 0.
  void AddUniqueDevice(int device, const TraceData& trace) {
    const std::pair<int, int> place{trace.rank.value_or(0), device};
    if (std::find(devices_.begin(), devices_.end(), place) == devices_.end()) {
      devices_.push_back(place);
    }
  }

  Evidence Finish(const std::map<std::string, std::string>& machine) {
    evidence_.device_kind = gpu_processes_ > 0 || ExpectsGpu() ? "cuda" : "cpu";
    if (gpu_processes_ > 0 && gpu_processes_ < static_cast<int>(evidence_.steps.size())) {
      evidence_.incomplete_because.push_back("some traced processes used the GPU, others did not");
    }
    if (declared_.device == "cpu" && evidence_.device_kind == "cuda") {
      evidence_.incomplete_because.push_back(
          "the case declares `device: cpu`, but the workload ran on CUDA");
    }
    CheckDevice();
    AddRanksToKey(evidence_);
    if (!devices_.empty()) {
      evidence_.key.fields["gpu_count"] = fmt::format("{}", devices_.size());
    }
    if (!CountsInstructions()) evidence_.key.fields["profiler"] = profiler_;
    AddCaseKey(declared_, attempts_, machine, evidence_);
    if (CountsInstructions()) AppendInstructions(declared_, attempts_, evidence_);
    CompleteMetrics(declared_, evidence_);
    TakeTimes(declared_, attempts_, evidence_);
    DecodeRows(evidence_);
    return std::move(evidence_);
  }

  // A workload that was told `cuda:1` may not have listened.
  void CheckDevice() {
    if (!declared_.device.starts_with("cuda:")) return;
    for (const auto& [rank, ordinal] : devices_) {
      const std::string device = fmt::format("cuda:{}", ordinal);
      if (device == declared_.device) continue;
      AddUnique(evidence_.incomplete_because,
                fmt::format("the case declares `device: {}`, but the workload ran on {}",
                            declared_.device, device));
    }
  }

  void CheckTraced() {
    if (attempts_.empty() || !evidence_.steps.empty() || CountsInstructions()) return;
    const bool any = std::any_of(attempts_.begin(), attempts_.end(), [](const AttemptData& data) {
      return data.attempt.phase == Phase::kTraced;
    });
    if (!any) evidence_.incomplete_because.push_back("no attempt was traced");
  }

  const Case& declared_;
  std::span<const AttemptData> attempts_;
  const std::filesystem::path& out_dir_;
  Evidence evidence_;
  Side side_ = Side::kHead;
  int gpu_processes_ = 0;
  std::vector<std::pair<int, int>> devices_;  // rank, ordinal
  SaidByRanks said_by_ranks_;
  std::optional<std::pair<std::string, RollCall>> first_ranks_;  // of the first traced process
  std::string profiler_ = "torch";
};

}  // namespace

Evidence Extract(const Case& declared, std::span<const AttemptData> attempts,
                 const std::filesystem::path& out_dir,
                 const std::map<std::string, std::string>& machine,
                 std::span<const AttemptData> reference) {
  return Extractor(declared, attempts, out_dir).Extract(machine, reference);
}

namespace {

// The traces of several ranks, or whatever an attempt left; none if the folder holds no trace.
AttemptData CollectFolder(const std::filesystem::path& folder) {
  Attempt attempt;
  attempt.case_name = folder.filename();
  attempt.dir = folder.filename();
  return CollectAttempt(folder.parent_path(), attempt, {});
}

}  // namespace

Evidence ExtractTrace(const std::filesystem::path& trace) {
  if (std::filesystem::is_directory(trace)) {
    const std::filesystem::path folder =
        std::filesystem::absolute(trace / "").lexically_normal().parent_path();
    const AttemptData data = CollectFolder(folder);
    Case bare;
    bare.name = data.attempt.case_name;
    const std::filesystem::path around = folder.parent_path();
    if (!data.traces.empty()) return Extractor(bare, std::span(&data, 1), around).Extract({}, {});
  }
  AttemptData data;
  data.traces.push_back({trace, 0});
  Case bare;
  bare.name =
      trace.stem().extension() == ".json" ? trace.stem().stem().string() : trace.stem().string();
  data.attempt.case_name = bare.name;
  const std::filesystem::path folder = trace.parent_path();
  return Extractor(bare, std::span(&data, 1), folder).ExtractRead(ReadTrace(trace));
}

}  // namespace perfgate
