// Modules and annotations in few words.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "evidence/evidence.h"

namespace perfgate {
namespace {

constexpr size_t kLevels = 2;  // shown of a path, the innermost ones

std::string InnermostLevels(std::string_view place, size_t levels) {
  const std::vector<std::string_view> elements = PathElements(place);
  const size_t from = elements.size() - std::min(elements.size(), levels);
  std::string text;
  for (size_t i = from; i < elements.size(); ++i) {
    if (!text.empty()) text += kPathSeparator;
    text += elements[i];
  }
  return text;
}

// "LlamaMLP > Linear": without the number that each instance has.
std::string WithoutNumbers(std::string_view place) {
  std::string text;
  for (std::string_view element : PathElements(place)) {
    const size_t last = element.find_last_not_of("0123456789");
    if (last != std::string_view::npos && last + 1 < element.size() && element[last] == '_') {
      element = element.substr(0, last);
    }
    if (!text.empty()) text += kPathSeparator;
    text += element;
  }
  return text;
}

}  // namespace

std::string PlaceText(const std::vector<PlaceUse>& places) {
  if (places.empty()) return "";
  const auto longest =
      std::max_element(places.begin(), places.end(),
                       [](const PlaceUse& a, const PlaceUse& b) { return a.time_ns < b.time_ns; });
  const std::string text = InnermostLevels(longest->place, kLevels);
  if (places.size() == 1) return text;
  for (size_t levels = kLevels; levels > 0; --levels) {
    const std::string kind = WithoutNumbers(InnermostLevels(longest->place, levels));
    const bool alike = std::all_of(places.begin(), places.end(), [&](const PlaceUse& use) {
      return WithoutNumbers(InnermostLevels(use.place, levels)) == kind;
    });
    if (alike) return fmt::format("{}, {} of them", kind, places.size());
  }
  return fmt::format("{} and {}", text, Plural(static_cast<int64_t>(places.size()) - 1, "other"));
}

}  // namespace perfgate
