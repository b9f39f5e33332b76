#pragma once

#include <span>
#include <vector>

namespace perfgate {

// (d_i + d_j)/2 for i <= j, ascending.
std::vector<double> SortedWalshAverages(std::span<const double> differences);

}  // namespace perfgate
