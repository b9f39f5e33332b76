#include "cli/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ostream>

namespace perfgate::cli {

namespace {

// Without links and dots, also of a file that is not there yet.
std::filesystem::path Resolved(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(file, error);
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(whole, error);
  return error ? whole.lexically_normal() : resolved;
}

// True if `file`, or a folder that it stands in, is `input`. Files are the same by what they are,
// not by how they are written.
bool IsOrIsBelow(const std::filesystem::path& file, const std::filesystem::path& input) {
  std::error_code error;  // of a file that is not there yet: it cannot be the same
  std::filesystem::path at = Resolved(file);
  for (;; at = at.parent_path()) {
    if (std::filesystem::equivalent(at, input, error)) return true;
    if (at == at.parent_path()) return false;
  }
}

// One of two reports in one file would be lost.
void RequireFilesApart(const std::vector<ReportFile>& reports) {
  for (size_t i = 0; i < reports.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      std::error_code error;
      const std::filesystem::path& file = reports[i].file;
      if (std::filesystem::equivalent(file, reports[j].file, error) ||
          Resolved(file) == Resolved(reports[j].file)) {
        throw Error(Fault::kUsage, fmt::format("--report: {} is named twice, and the second report "
                                               "would overwrite the first; give it another name",
                                               file.string()));
      }
    }
  }
}

}  // namespace

bool WantsColor(World& world) {
  if (!world.Getenv("NO_COLOR").empty()) return false;
  if (!world.Getenv("FORCE_COLOR").empty()) return true;
  return world.OutIsTerminal() && world.Getenv("TERM") != "dumb";
}

Reports::Reports(const OutputArgs& args, const std::vector<std::filesystem::path>& inputs,
                 World& world)
    : args_(args), world_(world) {
  RequireFilesApart(args.reports);
  for (const ReportFile& report : args.reports) {
    for (const std::filesystem::path& input : inputs) {
      if (!IsOrIsBelow(report.file, input)) continue;
      throw Error(Fault::kUsage, fmt::format("{}: the report would overwrite or stand among what "
                                             "the command reads; give it another name",
                                             report.file.string()));
    }
    File file{report, std::ofstream(report.file, std::ios::binary | std::ios::trunc)};
    if (!file.stream) {
      throw Error(Fault::kEnvironment, fmt::format("{}: the report cannot be opened: {}",
                                                   report.file.string(), std::strerror(errno)));
    }
    files_.push_back(std::move(file));
  }
}

bool Reports::Wants(Format format) const {
  return args_.format == format || std::any_of(files_.begin(), files_.end(), [&](const File& file) {
           return file.report.format == format;
         });
}

std::string Reports::AsText(const Verdict& verdict, std::span<const CasePair> pairs,
                            std::span<const Trend> trends, Format format, bool color) const {
  switch (format) {
    case Format::kText:
      return VerdictAsText(verdict, {.color = color, .all_passes = args_.verbose});
    case Format::kMarkdown:
      return VerdictAsMarkdown(verdict);
    case Format::kJson:
      return WriteJson(VerdictAsJson(verdict), 6);
    case Format::kHtml:
      return VerdictAsHtml(verdict, pairs, trends);
    case Format::kJunit:
      return VerdictAsJunit(verdict);
    case Format::kGithub:
      return VerdictAsGithub(verdict);
    case Format::kGitlab:
      return WriteJson(VerdictAsGitlab(verdict), 1);
  }
  return "";
}

void Reports::WriteFiles(const Verdict& verdict, std::span<const CasePair> pairs,
                         std::span<const Trend> trends) {
  for (File& file : files_) {
    if (!file.stream.is_open()) continue;
    file.stream << AsText(verdict, pairs, trends, file.report.format, false);
    file.stream.close();
    if (!file.stream) {
      throw Error(Fault::kEnvironment,
                  fmt::format("{}: the report cannot be written: {}", file.report.file.string(),
                              std::strerror(errno)));
    }
  }
}

void Reports::Write(const Verdict& verdict, std::span<const CasePair> pairs,
                    std::span<const Trend> trends) {
  world_.Out() << AsText(verdict, pairs, trends, args_.format, WantsColor(world_)) << std::flush;
  printed_ = true;
  WriteFiles(verdict, pairs, trends);
}

void Reports::WriteFailure(const Error& error, int exit_code) {
  Verdict verdict;
  verdict.result = Result::kError;
  verdict.exit_code = exit_code;
  verdict.problems.push_back(error.what());
  const bool for_people = args_.format == Format::kText || args_.format == Format::kMarkdown;
  if (!for_people && !printed_) {
    world_.Out() << AsText(verdict, {}, {}, args_.format, false) << std::flush;
  }
  WriteFiles(verdict, {}, {});
}

}  // namespace perfgate::cli
