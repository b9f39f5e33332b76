// Strict reading of a Yaml tree: every method that does not find what it wants says so in the
// Problems, with position and key path, and returns nothing; the caller reads on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "declare/document.h"
#include "declare/keys.h"
#include "declare/problems.h"

namespace perfgate {

// A value and where it stands. Refers to the tree and the Problems, which must outlive it.
class Reader {
 public:
  Reader(const Yaml& value, Spot key, std::string path, Problems& problems)
      : value_(&value), key_(key), path_(std::move(path)), problems_(&problems) {}

  const Yaml& value() const { return *value_; }
  const std::string& path() const { return path_; }
  Problems& problems() const { return *problems_; }
  // Where to point at: the value if it is a scalar, else its key (a list begins lines later).
  Spot spot() const;
  Where where() const { return problems_->At(spot()); }

  void Fail(std::string_view text) const { problems_->Add(spot(), path_, text); }
  // Fails with "must be EXPECTED, found ...".
  void FailExpected(std::string_view expected) const;

  // A mapping with keys of `keys` only, the required ones there. False if it is no mapping; unknown
  // and missing keys are said and do not stop the reading.
  bool Map(KeySet keys) const;
  // The same with the known names at hand; `what` stands in the suggestion: "keys of geglu".
  bool Map(const std::vector<std::string>& known, std::string_view what = "keys") const;
  bool IsMap() const { return value_->kind == YamlKind::kMap; }
  bool IsList() const { return value_->kind == YamlKind::kList; }
  bool IsScalar() const { return value_->kind == YamlKind::kScalar; }
  bool Has(std::string_view key) const { return value_->Find(key) != nullptr; }
  std::optional<Reader> Find(std::string_view key) const;
  std::vector<std::pair<std::string, Reader>> Members() const;        // of a mapping
  void FailAtKey(std::string_view key, std::string_view text) const;  // of a mapping

  // The items of a list that is not empty.
  std::vector<Reader> Items() const;
  // The items of a list, or the scalar itself as the only one.
  std::vector<Reader> ItemsOrOne() const;

  std::optional<std::string> Text() const;  // not empty, at most 4096 bytes
  std::vector<std::string> Texts() const;   // list of texts or one text; no text twice
  std::optional<bool> Bool() const;
  std::optional<int64_t> Int(int64_t least, int64_t most) const;
  std::optional<Quantity> Number(std::string_view expected) const;  // any unit
  // Above 0 and at most `most_ns`.
  std::optional<int64_t> DurationNs(int64_t most_ns) const;
  // One of `choices`, which stand in the message.
  std::optional<std::string> Choice(const std::vector<std::string>& choices) const;

 private:
  const Yaml* value_;
  Spot key_;
  std::string path_;
  Problems* problems_;
};

// `version: 1`. False, with the problem said, if there is none or it is another one.
bool CheckVersion(const Reader& root);

}  // namespace perfgate
