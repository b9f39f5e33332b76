// What an attempt folder holds, read with distrust.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attempt/attempt.h"
#include "attempt/paths.h"
#include "base/file.h"
#include "base/text.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kCountFileAtMostBytes = int64_t{256} << 20;  // of callgrind: 30 MB of torch

bool IsTraceName(std::string_view name) {
  return name.starts_with("trace") && (name.ends_with(".json") || name.ends_with(".json.gz"));
}

// The number after "rank" in the file's name.
std::optional<int> RankFromName(const std::string& name) {
  const size_t at = name.find("rank");
  if (at == std::string::npos) return std::nullopt;
  const char* begin = name.data() + at + 4;
  const char* end = name.data() + name.size();
  if (begin != end && (*begin == '-' || *begin == '_')) ++begin;
  int rank = 0;
  const auto [stop, error] = std::from_chars(begin, end, rank);
  if (error != std::errc() || stop == begin || rank < 0) return std::nullopt;
  return rank;
}

bool IsNoTraceName(std::string_view name) {
  return name.starts_with("no-trace-") && name.ends_with(".txt");
}

std::string FirstLine(const fs::path& file) {
  constexpr size_t kAtMost = 1024;
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return Printable(std::string_view(line).substr(0, kAtMost));
}

// Names in the folder, sorted. A folder that cannot be listed has none.
std::vector<std::string> List(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Collector {
 public:
  Collector(const fs::path& out_dir, Profiler profiler, AttemptData& data)
      : folder_(out_dir / data.attempt.dir), out_dir_(out_dir), profiler_(profiler), data_(data) {}

  void Collect() {
    if (!StaysInside(data_.attempt.dir)) {
      AddFault("its folder is not inside the out folder; what it holds is not read");
      return;
    }
    if (!data_.result.fault.empty()) AddFault(data_.result.fault);
    const std::vector<std::string> names = List(folder_);
    for (const std::string& name : names) {
      if (IsTraceName(name)) AddTrace(name);
    }
    if (std::binary_search(names.begin(), names.end(), "samples.json")) AddSamples();
    // A process that failed says so above; what it therefore did not write is no second fault.
    if (!data_.faults.empty()) return;
    if (profiler_ == Profiler::kInstructions) {
      AddInstructions(names);
      return;
    }
    if (data_.attempt.phase == Phase::kTraced) AddMissingTraces(names);
    if (data_.attempt.phase == Phase::kTimed && !data_.samples) {
      AddFault("wrote no samples.json into PERFGATE_ATTEMPT_DIR");
    }
  }

 private:
  void AddFault(std::string_view what) { data_.faults.emplace_back(what); }

  // The collector leaves a text for each process that used CUDA and came to no trace: what that
  // process did is missing, whatever others left.
  void AddMissingTraces(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (IsNoTraceName(name) && IsReadable(name)) AddFault(FirstLine(folder_ / name));
    }
    if (!data_.faults.empty() || !data_.traces.empty()) return;
    AddFault(profiler_ == Profiler::kCupti
                 ? "there is no trace: the program used no CUDA, or ended before the collector's "
                   "window"
                 : "wrote no trace*.json or trace*.json.gz into PERFGATE_ATTEMPT_DIR");
  }

  // True if the file may be opened; else a fault.
  bool IsFile(const std::string& name) {
    const std::string wrong = WhyNotInside(folder_ / name, out_dir_);
    if (!wrong.empty()) AddFault(fmt::format("{}: {}", Printable(name), wrong));
    return wrong.empty();
  }

  // True if the file may be opened and holds something; else a fault.
  bool IsReadable(const std::string& name) {
    if (!IsFile(name)) return false;
    std::error_code error;
    if (fs::file_size(folder_ / name, error) == 0 && !error) {
      AddFault(fmt::format("{}: is empty", Printable(name)));
      return false;
    }
    return true;
  }

  void AddTrace(const std::string& name) {
    if (IsReadable(name)) data_.traces.push_back({folder_ / name, RankFromName(name)});
  }

  void AddSamples() {
    if (!IsReadable("samples.json")) return;
    try {
      data_.samples = ReadSamples(folder_ / "samples.json");
    } catch (const Error& error) {
      AddFault(Printable(error.what()));
      return;
    }
    int64_t left_bytes = kOutputsAtMostBytes;
    for (Output& output : data_.samples->outputs) {
      if (output.file.empty()) continue;
      if (!HoldsItsElements(output, left_bytes) || !IsItsAlone(output)) output.file.clear();
    }
  }

  // Of callgrind one file a process; all of them are the attempt's.
  void AddInstructions(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const bool perf = name == kPerfStatFile;
      if ((!perf && !name.starts_with(kCallgrindFile)) || !IsReadable(name)) continue;
      const std::string text = ReadFile(folder_ / name, kCountFileAtMostBytes);
      const auto count = perf ? CountOfPerfStat(text) : CountOfCallgrind(text);
      if (!count) {
        AddFault(fmt::format("{}: has no count of instructions", Printable(name)));
        continue;
      }
      if (!data_.instructions) {
        data_.instructions.emplace(
            InstructionCount{perf ? "perf stat instructions:u" : "callgrind", 0});
      }
      data_.instructions->count += *count;
    }
    if (!data_.instructions && data_.faults.empty()) AddFault("instructions were not counted");
  }

  // True if the output's file is as long as its shape says, and no longer than what is read; else a
  // fault.
  bool HoldsItsElements(const Output& output, int64_t& left_bytes) {
    if (!IsFile(output.file)) return false;
    std::error_code error;
    const auto bytes = static_cast<int64_t>(fs::file_size(folder_ / output.file, error));
    const int64_t elements = SavedElementsOf(output);
    constexpr auto kElementBytes = static_cast<int64_t>(sizeof(float));
    std::string wrong;
    if (error) {
      wrong = error.message();
    } else if (bytes > kOutputAtMostBytes) {
      wrong = fmt::format(
          "holds {} bytes: no more than {} are read; save every n-th element, and "
          "say it as 'stride'",
          bytes, kOutputAtMostBytes);
    } else if (elements != bytes / kElementBytes || bytes % kElementBytes != 0) {
      wrong = fmt::format(
          "holds {} bytes, where the shape of output '{}' asks for {} elements of 4 bytes", bytes,
          Printable(output.name), elements);
    } else if (bytes > left_bytes) {
      wrong = fmt::format("not read: of the outputs of a process no more than {} bytes are",
                          kOutputsAtMostBytes);
    }
    if (!wrong.empty()) {
      AddFault(fmt::format("{}: {}", Printable(output.file), wrong));
      return false;
    }
    left_bytes -= bytes;
    return true;
  }

  // Of two outputs in one file the first was overwritten, under whatever names the file has.
  bool IsItsAlone(const Output& output) {
    struct stat file {};
    if (::stat((folder_ / output.file).c_str(), &file) != 0) return true;  // reading says why
    const auto [known, is_new] =
        output_of_file_.emplace(std::pair(file.st_dev, file.st_ino), output.name);
    if (is_new) return true;
    AddFault(fmt::format("{}: is the file of two outputs, '{}' and '{}'", Printable(output.file),
                         Printable(known->second), Printable(output.name)));
    return false;
  }

  fs::path folder_, out_dir_;
  Profiler profiler_;
  AttemptData& data_;
  std::map<std::pair<dev_t, ino_t>, std::string> output_of_file_;  // by device and inode
};

}  // namespace

AttemptData CollectAttempt(const fs::path& out_dir, const Attempt& attempt,
                           const AttemptResult& result, Profiler profiler) {
  AttemptData data;
  data.attempt = attempt;
  data.result = result;
  Collector(out_dir, profiler, data).Collect();
  return data;
}

}  // namespace perfgate
