// Why the runner ends without a measurement. main.cc prints the text and picks the exit code.
#pragma once

#include <stdexcept>

namespace perfgate::runner {

// The command line is wrong: exit code 2.
struct UsageFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The workload cannot be measured: exit code 1.
struct WorkloadFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace perfgate::runner
