// A YAML file as a tree of our own: positions kept, aliases expanded within bounds, nothing of
// yaml-cpp visible. Only document.cc includes yaml-cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "declare/problems.h"

namespace perfgate {

enum class YamlKind { kNull, kScalar, kList, kMap };

struct Yaml {
  struct Member;
  YamlKind kind = YamlKind::kNull;
  std::string text;     // scalars: as written, quotes removed
  bool quoted = false;  // scalars: a quoted number is a text
  Spot spot;
  std::vector<Yaml> items;
  std::vector<Member> members;  // keys are unique

  const Member* Find(std::string_view key) const;
};

struct Yaml::Member {
  std::string key;
  Spot spot;  // of the key
  Yaml value;
};

// The one document of `text`. Nothing, with the reasons in `problems`, if it is not YAML, is empty
// or goes beyond the bounds on depth and on expanded aliases. Duplicate keys, merge keys and tags
// are problems too.
std::optional<Yaml> ParseYaml(std::string_view text, int file, Problems& problems);

// The contents of a file that a person wrote: at most 1 MiB. A missing file (`if_absent` says what
// to do then), a directory or a larger one is a problem at the file itself.
std::optional<std::string> ReadDeclaration(const std::string& path, int file, Problems& problems,
                                           std::string_view if_absent);

}  // namespace perfgate
