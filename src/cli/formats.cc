#include "cli/formats.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "base/error.h"
#include "base/text.h"

namespace perfgate::cli {
namespace {

struct NamedFormat {
  std::string_view name;
  Format format;
};
// Lists take the first three, evidence the first four, a verdict all.
constexpr std::array<NamedFormat, 7> kFormats = {{{"text", Format::kText},
                                                  {"md", Format::kMarkdown},
                                                  {"json", Format::kJson},
                                                  {"html", Format::kHtml},
                                                  {"junit", Format::kJunit},
                                                  {"github", Format::kGithub},
                                                  {"gitlab", Format::kGitlab}}};
constexpr size_t kListFormats = 3, kEvidenceFormats = 4;

Format ParseFormat(const std::string& text, const std::string& flag,
                   std::span<const NamedFormat> formats) {
  std::vector<std::string> known;
  for (const NamedFormat& named : formats) {
    if (text == named.name) return named.format;
    known.emplace_back(named.name);
  }
  const std::optional<std::string> nearest = Nearest(text, known);
  const std::string last = known.back();
  known.pop_back();
  throw Error(Fault::kUsage, fmt::format("{}: unknown format `{}`: {} or {}{}", flag,
                                         Printable(text), Join(known, ", "), last,
                                         nearest ? "; did you mean `" + *nearest + "`?" : ""));
}

}  // namespace

Format ParseVerdictFormat(const std::string& name, const std::string& flag) {
  return ParseFormat(name, flag, kFormats);
}

Format ParseListFormat(const std::string& name) {
  return ParseFormat(name, "--format", std::span(kFormats).first(kListFormats));
}

Format ParseEvidenceFormat(const std::string& name) {
  return ParseFormat(name, "--format", std::span(kFormats).first(kEvidenceFormats));
}

ReportFile ParseReport(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size()) {
    throw Error(Fault::kUsage, fmt::format("--report {}: it takes FORMAT=FILE, for example "
                                           "--report json=verdict.json",
                                           Printable(text)));
  }
  return {ParseVerdictFormat(text.substr(0, equals), "--report"), text.substr(equals + 1)};
}

}  // namespace perfgate::cli
