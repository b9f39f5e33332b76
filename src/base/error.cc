#include "base/error.h"

#include <fmt/format.h>

namespace perfgate {

std::string ToString(const Where& where) {
  if (where.line == 0) return where.file;
  if (where.column == 0) return fmt::format("{}:{}", where.file, where.line);
  return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

}  // namespace perfgate
