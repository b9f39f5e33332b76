#include "harness/pick.h"

#include <string_view>

#include "base/text.h"

namespace perfgate::spec {
namespace {

// "metrics.memcpy_count.dtoh.value": a key may hold dots itself, so the longest key wins.
const Json* Member(const Json& json, std::string_view path, std::string_view& rest) {
  for (size_t end = path.size(); end != std::string_view::npos && end > 0;
       end = path.rfind('.', end - 1)) {
    if (const Json* found = json.Find(path.substr(0, end))) {
      rest = end == path.size() ? "" : path.substr(end + 1);
      return found;
    }
  }
  return nullptr;
}

void Follow(const Json& json, std::string_view path, std::vector<const Json*>& found) {
  if (json.IsArray()) {
    for (const Json& item : json.AsArray()) Follow(item, path, found);
    return;
  }
  if (path.empty()) {
    found.push_back(&json);
    return;
  }
  std::string_view rest;
  if (const Json* member = Member(json, path, rest)) Follow(*member, rest, found);
}

std::string Shown(const Json& json) {
  if (json.IsString()) return json.AsString();
  std::string text = WriteJson(json, 0);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string Field(const Json& object, std::string_view path) {
  std::string_view rest = path;
  const Json* at = &object;
  while (!rest.empty() && at != nullptr && at->IsObject()) at = Member(*at, rest, rest);
  return at == nullptr || !rest.empty() ? "-" : Shown(*at);
}

}  // namespace

std::vector<std::string> Pick(const Json& document, const std::string& what) {
  const size_t colon = what.find(':');
  std::vector<const Json*> objects;
  if (colon == std::string::npos) {
    objects.push_back(&document);
  } else {
    Follow(document, Trim(std::string_view(what).substr(0, colon)), objects);
  }
  const std::string fields = colon == std::string::npos ? what : what.substr(colon + 1);
  std::vector<std::string> lines;
  for (const Json* object : objects) {
    std::vector<std::string> values;
    for (const std::string& field : Split(Trim(fields), ' ')) {
      if (!field.empty()) values.push_back(Field(*object, field));
    }
    lines.push_back(fields.find_first_not_of(' ') == std::string::npos ? Shown(*object)
                                                                       : Join(values, "  "));
  }
  return lines;
}

}  // namespace perfgate::spec
