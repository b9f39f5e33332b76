// Reads the members of a JSON object with messages that say the file, the key and what was
// expected.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace perfgate {

// An absent member gives the default; a member of another type, or null where it is not allowed,
// throws Error(kInput) "FILE: outputs[1].mean: expected a number". Keys that nobody asks for are
// ignored. Refers to the document, which must outlive it.
class Fields {
 public:
  // Throws if `json` is no object. `path` is the key of this object in the document, "" at the top.
  Fields(const Json& json, std::string file, std::string path = "");

  // Throws unless the member "schema" is `expected` ("perfgate.run/1"). Another number after the
  // slash is a newer or older writer, and is said so.
  void RequireSchema(std::string_view expected) const;
  // Throws if the member is missing.
  void Require(std::string_view key) const;
  bool Has(std::string_view key) const { return json_.Find(key) != nullptr; }

  std::string Text(std::string_view key) const;
  bool Bool(std::string_view key, bool absent = false) const;
  int64_t Int(std::string_view key, int64_t absent = 0, int64_t least = 0,
              int64_t most = std::numeric_limits<int64_t>::max()) const;
  int SmallInt(std::string_view key, int absent = 0) const;  // 0 to 2^31-1
  double Number(std::string_view key) const;  // null is NaN: JSON has no other word for it
  std::vector<int64_t> Ints(std::string_view key) const;  // each 0 or more
  std::vector<std::string> Texts(std::string_view key) const;
  std::map<std::string, std::string> TextMap(std::string_view key) const;
  std::vector<Fields> Objects(std::string_view key) const;
  // The member object; an absent one has no members.
  Fields Object(std::string_view key) const;

  // Throws Error(kInput) "FILE: KEY: message".
  [[noreturn]] void Fail(std::string_view key, std::string_view message) const;

 private:
  std::string PathOf(std::string_view key) const;
  const Json::Array& List(std::string_view key, std::string_view expected) const;

  const Json& json_;
  std::string file_, path_;
};

// An object of texts.
Json ToJson(const std::map<std::string, std::string>& map);

}  // namespace perfgate
