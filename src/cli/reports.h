// Where a verdict goes: standard output and report files. Files are opened (and emptied) before
// anything is measured, so that a wrong path costs nothing and no report of an earlier run is taken
// for this one's; they are written before the exit code, also when the command fails.
#pragma once

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/options.h"
#include "judge/judge.h"
#include "report/report.h"
#include "run/run.h"

namespace perfgate::cli {

class Reports {
 public:
  // `inputs`: files and folders that the command reads. Throws Error(kUsage) for a report that
  // would overwrite one of them or another report, or stand below one, Error(kEnvironment) for a
  // file that cannot be opened.
  Reports(const OutputArgs& args, const std::vector<std::filesystem::path>& inputs, World& world);

  bool Wants(Format format) const;
  // Prints and writes. Throws Error(kEnvironment) if a file could not be written in full.
  void Write(const Verdict& verdict, std::span<const CasePair> pairs,
             std::span<const Trend> trends = {});
  // After an Error: files, and standard output if it is for programs, hold a verdict that says so.
  void WriteFailure(const Error& error, int exit_code);

 private:
  struct File {
    ReportFile report;
    std::ofstream stream;
  };
  void WriteFiles(const Verdict& verdict, std::span<const CasePair> pairs,
                  std::span<const Trend> trends);
  std::string AsText(const Verdict& verdict, std::span<const CasePair> pairs,
                     std::span<const Trend> trends, Format format, bool color) const;

  const OutputArgs args_;
  World& world_;
  std::vector<File> files_;
  bool printed_ = false;
};

// True if standard output may have colours (NO_COLOR, FORCE_COLOR, TERM=dumb, no terminal).
bool WantsColor(World& world);

}  // namespace perfgate::cli
