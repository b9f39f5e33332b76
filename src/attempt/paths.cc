#include "attempt/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

namespace perfgate {
namespace {

bool HasControlCharacter(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace

bool StaysInside(const std::filesystem::path& relative) {
  if (relative.empty() || relative.is_absolute() || HasControlCharacter(relative.string())) {
    return false;
  }
  const auto leaves = [](const std::filesystem::path& part) { return part == ".."; };
  return std::none_of(relative.begin(), relative.end(), leaves) &&
         relative.lexically_normal() != ".";
}

void RequireRegularFile(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_regular_file(status)) return;
  throw Error(
      Fault::kInput,
      fmt::format("{}: {}", Printable(path.string()),
                  !std::filesystem::exists(status) ? "no such file" : "is not a regular file"));
}

}  // namespace perfgate
