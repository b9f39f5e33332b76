#include "base/random.h"

#include <unistd.h>

#include "base/error.h"

namespace perfgate {

// By std::random_device of Debian 12 a release (ci/release) would need glibc 2.36.
uint64_t RandomBits() {
  uint64_t bits = 0;
  if (::getentropy(&bits, sizeof bits) != 0) {
    throw Error(Fault::kEnvironment, "the system gives no random bits (getentropy)");
  }
  return bits;
}

}  // namespace perfgate
