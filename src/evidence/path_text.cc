#include "evidence/path_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "evidence/evidence.h"

namespace perfgate {
namespace {

constexpr size_t kDigestBytes = 17;  // '#' and 16 digits

std::string Joined(std::span<const std::string_view> elements) {
  std::string text;
  for (const std::string_view element : elements) {
    if (!text.empty()) text += kPathSeparator;
    text += element;
  }
  return text;
}

// How many elements fit, from `at` on.
template <typename Iterator>
size_t Fitting(Iterator at, Iterator end, size_t bytes) {
  size_t count = 0;
  for (size_t used = 0; at != end; ++at, ++count) {
    used += at->size() + kPathSeparator.size();
    if (used > bytes) break;
  }
  return count;
}

}  // namespace

std::string PathElement(std::string_view name) {
  if (name.size() <= kLongestElement) return std::string(name);
  return fmt::format("{}#{}", Shorten(name, kLongestElement - kDigestBytes), Hash16(name));
}

std::string PathText(std::span<const std::string_view> elements) {
  const std::string whole = Joined(elements);
  if (whole.size() <= kLongestPath) return whole;
  constexpr size_t kEnds = (kLongestPath - kLongestElement) / 2;
  const size_t outer = Fitting(elements.begin(), elements.end(), kEnds);
  const size_t inner = Fitting(elements.rbegin(), elements.rend(), kEnds);
  const auto between = elements.subspan(outer, elements.size() - outer - inner);
  return fmt::format("{}{}... {} levels #{}{}{}", Joined(elements.first(outer)), kPathSeparator,
                     between.size(), Hash16(Joined(between)), kPathSeparator,
                     Joined(elements.last(inner)));
}

}  // namespace perfgate
