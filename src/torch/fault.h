// Why the runner ends without a measurement. main.cc prints the text and picks the exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace perfgate::runner {

// The command line is wrong: exit code 2.
struct UsageFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The workload cannot be measured: exit code 1.
struct WorkloadFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A fault of LibTorch in one or two lines: its own words in one, and for those that people meet
// (out of memory, illegal access, ECC, driver, capture, attention) what it is and what to do.
std::string Explain(std::string_view libtorch);

// Why an export failed, from all that the exporter printed: the first error of the C++ compiler and
// what that means, else the last lines.
std::string ExplainExport(std::string_view log);

}  // namespace perfgate::runner
