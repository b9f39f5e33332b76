// Several processes of one attempt, each a rank with a trace of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "evidence/process.h"
#include "trace/trace.h"

namespace perfgate {

// Which ranks an attempt should have left a trace of, and which it did.
class RollCall {
 public:
  // `named`: the rank that the file's name says.
  void Add(const std::string& file, std::optional<int> named, const TraceData& trace);
  // `world_size` of an environment that some rank wrote down.
  void Expect(const std::map<std::string, std::string>& environment);
  // Why the traces cannot be those of all ranks, one line each; none if they are, or if there are
  // no ranks.
  std::vector<std::string> Faults() const;
  // The same ranks, and as many traces without one.
  bool HasRanksOf(const RollCall& other) const;
  // "ranks 0, 1", "1 trace without a rank".
  std::string Present() const;

 private:
  std::map<int, std::vector<std::string>> files_;  // by rank
  std::vector<std::string> nameless_;              // files that say no rank
  std::set<int> world_sizes_;
  int64_t largest_group_ = 0;  // ranks of the largest collective; 0: none says
  std::vector<std::string> faults_;
};

// The rank that a trace is of; nothing where it is a lone process's.
std::optional<Rank> RankOf(const TraceData& trace, const ProcessEvidence& process,
                           const Attempt& attempt);

// Ranks do the same work on different GPUs: each counts its own from 0, so that rows of the same
// work are one row. Rank::device keeps where it ran.
void NumberOwnDevices(ProcessEvidence& process);

// The GPUs of all ranks, in place of those of the first one.
void AddRanksToKey(Evidence& evidence);

// Says which rank works longest, and which one the others wait for.
void NoteUnevenRanks(Evidence& evidence);

// What traces of ranks say, one line for all ranks that say the same.
class SaidByRanks {
 public:
  // Moves the lines out of `process`.
  void Take(int rank, ProcessEvidence& process);
  // Moves them into `evidence`: "process 0, ranks 0-7: 1 launch without ...".
  void AppendTo(const std::string& label, Evidence& evidence);

 private:
  // In order of first appearance.
  struct Lines {
    std::vector<std::string> texts;
    std::map<std::string, std::set<int>> ranks;  // by text
    void Take(int rank, std::vector<std::string>& from);
    void AppendTo(const std::string& label, std::vector<std::string>& into);
  };
  Lines incomplete_, notes_, explain_;
};

// The files by the rank that their names say, 2 before 10; those that say none last.
std::vector<TraceFile> InOrderOfRanks(std::vector<TraceFile> files);

// "rank 3", "ranks 0, 1, 4-9"; of very many the first ones and how many others.
std::string RanksText(const std::set<int>& ranks);

}  // namespace perfgate
