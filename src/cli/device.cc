#include "cli/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace perfgate::cli {

void SetDevice(const std::string& device, std::vector<Case>* cases) {
  if (device.empty()) return;
  const bool known = device == "auto" || device == "cpu" || device == "cuda";
  const bool numbered =
      device.starts_with("cuda:") && device.size() > 5 && device.size() < 9 &&
      std::all_of(device.begin() + 5, device.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!known && !numbered) {
    throw Error(Fault::kUsage,
                fmt::format("--device {}: it takes auto, cpu, cuda or cuda:N", Printable(device)));
  }
  for (Case& item : *cases) item.device = device;
}

}  // namespace perfgate::cli
