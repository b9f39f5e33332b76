// Short words for kernels, so that a spec stays readable: `gelu` stands for the name of ATen's bf16
// GELU kernel as profilers write it.
#pragma once

#include <string>

namespace perfgate::spec {

// The exact name that `word` stands for; a word that is no short name stands for itself.
std::string ExactKernelName(const std::string& word);

}  // namespace perfgate::spec
