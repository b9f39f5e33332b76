#include <malloc.h>

#include <string>
#include <vector>

#include "cli/cli.h"

int main(int argc, char** argv) {
  // Lists as long as a trace are given back to the system where they are freed. By default glibc
  // keeps blocks of that size for itself once it has seen one.
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
  return perfgate::cli::Main(std::vector<std::string>(argv + 1, argv + argc),
                             perfgate::RealWorld());
}
