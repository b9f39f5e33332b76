#include "trace/hash.h"

#include "base/random.h"

namespace perfgate {

HashSeed RandomSeed() { return {RandomBits(), RandomBits()}; }

}  // namespace perfgate
