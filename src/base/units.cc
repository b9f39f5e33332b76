#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace perfgate {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
  Unit unit;
};

constexpr std::array kSuffixes = {
    Suffix{"ns", 1, Unit::kNanoseconds},     Suffix{"us", 1e3, Unit::kNanoseconds},
    Suffix{"µs", 1e3, Unit::kNanoseconds},   Suffix{"ms", 1e6, Unit::kNanoseconds},
    Suffix{"s", 1e9, Unit::kNanoseconds},    Suffix{"min", 60e9, Unit::kNanoseconds},
    Suffix{"h", 3600e9, Unit::kNanoseconds}, Suffix{"B", 1, Unit::kBytes},
    Suffix{"kB", 1e3, Unit::kBytes},         Suffix{"MB", 1e6, Unit::kBytes},
    Suffix{"GB", 1e9, Unit::kBytes},         Suffix{"KiB", 1024.0, Unit::kBytes},
    Suffix{"MiB", 1048576.0, Unit::kBytes},  Suffix{"GiB", 1073741824.0, Unit::kBytes},
};

// Three significant digits, but never fewer than those before the point: "1.20", "12.3", "123".
std::string ThreeDigits(double value) {
  const double size = std::abs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string FormatTime(double ns) {
  const double size = std::abs(ns);
  if (size < 1e3) return fmt::format("{:.0f} ns", ns);
  if (size < 999.5e3) return ThreeDigits(ns / 1e3) + " us";
  if (size < 999.5e6) return ThreeDigits(ns / 1e6) + " ms";
  return ThreeDigits(ns / 1e9) + " s";
}

std::string FormatBytes(double bytes) {
  const double size = std::abs(bytes);
  if (size < 1024) return fmt::format("{:.0f} B", bytes);
  static constexpr std::array<std::pair<double, std::string_view>, 3> kScales = {
      {{1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}}};
  for (const auto& [scale, name] : kScales) {
    if (size < scale) continue;
    const double scaled = bytes / scale;
    if (scaled == std::floor(scaled)) return fmt::format("{:.0f} {}", scaled, name);
    return ThreeDigits(scaled) + " " + std::string(name);
  }
  return fmt::format("{:.0f} B", bytes);
}

}  // namespace

std::string_view ToString(Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return "count";
    case Unit::kNanoseconds:
      return "ns";
    case Unit::kBytes:
      return "bytes";
    case Unit::kRatio:
      return "ratio";
  }
  return "count";
}

std::optional<Quantity> ParseQuantity(std::string_view text) {
  std::string_view rest = Trim(text);
  if (rest.starts_with('+') && !rest.starts_with("+-")) rest.remove_prefix(1);
  if (rest.empty() || rest[0] == '+') return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  rest = Trim(rest.substr(static_cast<size_t>(end - rest.data())));
  if (rest.empty()) return Quantity{value, Unit::kCount, false};
  if (rest == "%") return Quantity{value / 100, Unit::kRatio, true};
  for (const Suffix& suffix : kSuffixes) {
    if (rest == suffix.text) return Quantity{value * suffix.factor, suffix.unit, false};
  }
  return std::nullopt;
}

std::string FormatValue(double value, Unit unit) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  switch (unit) {
    case Unit::kNanoseconds:
      return FormatTime(value);
    case Unit::kBytes:
      return FormatBytes(value);
    case Unit::kRatio:
      return fmt::format("{:.4g}", value);
    case Unit::kCount:
      break;
  }
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace perfgate
