// `torch:` workloads: what the built-in runner, perfgate-torch, can be asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "declare/reader.h"

namespace perfgate {

// Keys of every `torch:` mapping, and those of one module on top.
std::vector<std::string> CommonTorchKeys();
std::vector<std::string> TorchDtypes();
std::vector<std::string> TorchModes();

// The arguments of perfgate-torch after its own name; empty after a problem.
std::vector<std::string> ReadTorch(const Reader& torch);

}  // namespace perfgate
