// `torch:` workloads: what the built-in runner, perfgate-torch, can be asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "declare/reader.h"

namespace perfgate {

// A key of a module and what it may be.
struct ModuleKey {
  enum class Type { kSize, kBool, kChoice };
  std::string_view name;
  Type type = Type::kSize;
  std::string_view absent;   // the value where the key is left out; "" if it is required
  std::string_view choices;  // kChoice: "gelu|relu"
};

struct Module {
  std::string_view name;
  std::string_view features;  // the key whose value the last dimension of the input equals
  std::vector<ModuleKey> keys;
};

// linear, matmul_add, mlp, geglu.
const std::vector<Module>& Modules();

// Keys of every `torch:` mapping, and those of one module on top.
std::vector<std::string> CommonTorchKeys();
std::vector<std::string> TorchDtypes();
std::vector<std::string> TorchModes();

// The arguments of perfgate-torch after its own name; empty after a problem.
std::vector<std::string> ReadTorch(const Reader& torch);

}  // namespace perfgate
