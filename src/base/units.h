// Quantities with units, as people write them in YAML and read them in reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perfgate {

enum class Unit { kCount, kNanoseconds, kBytes, kRatio };

std::string_view ToString(Unit unit);  // "count", "ns", "bytes", "ratio"

// A number with its unit: "30s", "200us", "64MiB", "5%", "3", "0.01".
// `value` is in ns, bytes, a fraction (5% -> 0.05 with `percent`) or a plain number.
struct Quantity {
  double value = 0;
  Unit unit = Unit::kCount;
  bool percent = false;
};

// Reads ns us µs ms s min h, B kB MB GB KiB MiB GiB, %, or a bare number (Unit::kCount), with an
// optional sign. Nothing if it is no such text, not finite, or out of range.
std::optional<Quantity> ParseQuantity(std::string_view text);

// For people: "12.3 us", "1.20 ms", "64 MiB", "5", "0.25 %": three significant digits at most for
// times, exact for counts.
std::string FormatValue(double value, Unit unit);

}  // namespace perfgate
