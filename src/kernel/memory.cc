// Copies and fills of the driver: "Memcpy HtoD (Pinned -> Device)", "Memset (Device)".
#include "kernel/families.h"

namespace perfgate {

bool DecodeMemory(const NameParts& name, KernelInfo* info) {
  std::string_view text = name.exact;
  bool copy = text.starts_with("Memcpy ");
  if (!copy && !text.starts_with("Memset")) return false;
  info->family = Family::kMemory;
  info->ops = {copy ? "copy" : "fill"};
  info->short_name = text.substr(0, 60);
  return true;
}

}  // namespace perfgate
