// Random bits of the system.
#pragma once

#include <cstdint>

namespace perfgate {

// Nobody outside can guess them. Throws Error(kEnvironment) where the kernel gives none.
uint64_t RandomBits();

}  // namespace perfgate
