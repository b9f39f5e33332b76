#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "declare/rule.h"

namespace perfgate {
namespace {

constexpr int64_t kMostCount = 1'000'000'000;

// An exact number, or bounds.
std::optional<CountBound> ReadCount(const Reader& count) {
  CountBound bound;
  if (count.IsScalar()) {
    const auto exact = count.Int(0, kMostCount);
    if (!exact) return std::nullopt;
    bound.at_most = bound.at_least = exact;
    return bound;
  }
  if (!count.IsMap()) {
    count.FailExpected("a whole number, or {at_most: N, at_least: N}");
    return std::nullopt;
  }
  if (!count.Map(kCountKeys)) return std::nullopt;
  if (const auto most = count.Find("at_most")) bound.at_most = most->Int(0, kMostCount);
  if (const auto least = count.Find("at_least")) bound.at_least = least->Int(0, kMostCount);
  if (!count.Has("at_most") && !count.Has("at_least")) {
    count.Fail("needs 'at_most' or 'at_least'");
  }
  if (bound.at_most && bound.at_least && *bound.at_least > *bound.at_most) {
    count.Fail("can never hold: 'at_least' is above 'at_most'");
  }
  return bound;
}

std::vector<std::string> TextsAt(const Reader& selector, std::string_view key) {
  const auto reader = selector.Find(key);
  return reader ? reader->Texts() : std::vector<std::string>();
}

std::vector<Family> ReadFamilies(const Reader& families) {
  std::vector<std::string> known;
  for (int i = 0; i <= static_cast<int>(Family::kOther); ++i) {
    known.emplace_back(ToString(static_cast<Family>(i)));
  }
  std::vector<Family> out;
  for (const Reader& item : families.ItemsOrOne()) {
    const auto name = item.Choice(known);
    if (name) out.push_back(*FindFamily(*name));
  }
  return out;
}

std::optional<KernelSelector> ReadSelector(const Reader& selector) {
  if (!selector.Map(kSelectorKeys)) return std::nullopt;
  KernelSelector out;
  if (const auto family = selector.Find("family")) out.family = ReadFamilies(*family);
  if (const auto name = selector.Find("name")) out.name = name->Text().value_or("");
  if (const auto under = selector.Find("under")) out.under = under->Text().value_or("");
  out.in_dtype = TextsAt(selector, "in_dtype");
  out.out_dtype = TextsAt(selector, "out_dtype");
  out.library = TextsAt(selector, "library");
  out.epilogue = TextsAt(selector, "epilogue");
  out.layout = TextsAt(selector, "layout");
  if (const auto ops = selector.Find("ops")) out.ops = ReadOperatorWords(*ops);
  if (const auto tensor_core = selector.Find("tensor_core")) out.tensor_core = tensor_core->Bool();
  if (const auto split_k = selector.Find("split_k")) out.split_k = split_k->Bool();
  return out;
}

std::optional<KernelSelector> SelectorAt(const Reader& kernels, std::string_view key) {
  const auto reader = kernels.Find(key);
  if (!reader) return std::nullopt;
  if (reader->IsMap() && reader->value().members.empty()) {
    reader->Fail("the selector is empty and says nothing");
  }
  return ReadSelector(*reader);
}

}  // namespace

std::vector<std::string> ReadOperatorWords(const Reader& words) {
  std::vector<std::string> out;
  for (const Reader& item : words.ItemsOrOne()) {
    const auto text = item.Text();
    if (!text) continue;
    const std::string word = OperatorWord(*text);
    if (word != *text) {
      item.Fail(fmt::format("{} must be an operator's short name; write {}", Quoted(*text),
                            Quoted(word)));
    } else if (std::find(out.begin(), out.end(), *text) != out.end()) {
      item.Fail(fmt::format("{} is there twice", Quoted(*text)));
    } else {
      out.push_back(*text);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<KernelsCheck> ReadKernels(const Reader& kernels) {
  if (!kernels.Map(kKernelsKeys)) return std::nullopt;
  KernelsCheck check;
  if (const auto among = kernels.Find("among")) {
    check.among = ReadSelector(*among).value_or(KernelSelector());
  }
  if (const auto count = kernels.Find("count")) check.count = ReadCount(*count);
  check.all = SelectorAt(kernels, "all");
  check.none = SelectorAt(kernels, "none");
  if (!kernels.Has("count") && !kernels.Has("all") && !kernels.Has("none")) {
    kernels.Fail("needs 'count', 'all' or 'none': what is to hold of the kernels");
  }
  return check;
}

std::optional<FusionCheck> ReadFusion(const Reader& fusion) {
  if (!fusion.Map(kFusionKeys)) return std::nullopt;
  FusionCheck check;
  if (const auto ops = fusion.Find("ops")) {
    check.ops = ReadOperatorWords(*ops);
    if (check.ops.size() == 1) ops->Fail("needs at least two operators to be fused");
  }
  if (const auto fused = fusion.Find("fused")) check.fused = ReadCount(*fused);
  if (const auto apart = fusion.Find("apart")) check.apart = ReadCount(*apart);
  if (!fusion.Has("fused") && !fusion.Has("apart")) fusion.Fail("needs 'fused' or 'apart'");
  return check;
}

std::optional<ChangesCheck> ReadChanges(const Reader& changes) {
  if (!changes.Map(kChangesKeys)) return std::nullopt;
  std::vector<std::string> known;
  for (const ChangeKind kind : ChangeKinds()) known.emplace_back(ToString(kind));
  ChangesCheck check;
  if (const auto kinds = changes.Find("kinds")) {
    for (const Reader& item : kinds->ItemsOrOne()) {
      const auto name = item.Choice(known);
      if (!name) continue;
      const ChangeKind kind = *FindChangeKind(*name);
      if (std::find(check.kinds.begin(), check.kinds.end(), kind) != check.kinds.end()) {
        item.Fail(fmt::format("{} is there twice", Quoted(*name)));
      } else {
        check.kinds.push_back(kind);
      }
    }
  }
  if (const auto narrower = changes.Find("narrower")) check.narrower = narrower->Bool();
  if (const auto count = changes.Find("count")) {
    check.count = ReadCount(*count).value_or(CountBound());
  }
  return check;
}

}  // namespace perfgate
