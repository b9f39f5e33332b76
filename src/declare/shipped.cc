#include <algorithm>

#include "declare/declare.h"
#include "declare/rules.h"
#include "embedded_declare.h"

namespace perfgate {
namespace {

constexpr std::string_view kPackFolder = "rules/";
constexpr std::string_view kSchemaFolder = "docs/schema/";

// "structure" for "rules/structure.yaml"; empty if the path is not in the folder.
std::string_view Stem(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder)) return {};
  path.remove_prefix(folder.size());
  return path.substr(0, path.rfind('.'));
}

std::string_view TextOf(std::string_view name, std::string_view folder) {
  for (const EmbeddedFile& file : kEmbeddedFiles) {
    if (!name.empty() && Stem(file.path, folder) == name) return file.text;
  }
  return {};
}

std::vector<std::string> NamesIn(std::string_view folder, std::string_view prefix) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : kEmbeddedFiles) {
    const std::string_view stem = Stem(file.path, folder);
    if (!stem.empty()) names.push_back(std::string(prefix) + std::string(stem));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string_view ToString(Severity severity) {
  switch (severity) {
    case Severity::kOff:
      return "off";
    case Severity::kWarn:
      return "warn";
    case Severity::kError:
      return "error";
  }
  return "error";
}

std::string_view ToString(DeviceFilter filter) {
  switch (filter) {
    case DeviceFilter::kAny:
      return "any";
    case DeviceFilter::kCpu:
      return "cpu";
    case DeviceFilter::kCuda:
      return "cuda";
  }
  return "any";
}

std::vector<std::string> PackNames() { return NamesIn(kPackFolder, kPackPrefix); }

std::string_view PackText(std::string_view name) {
  if (!name.starts_with(kPackPrefix)) return {};
  return TextOf(name.substr(kPackPrefix.size()), kPackFolder);
}

std::vector<std::string> SchemaNames() { return NamesIn(kSchemaFolder, ""); }

std::string_view SchemaText(std::string_view name) { return TextOf(name, kSchemaFolder); }

}  // namespace perfgate
