#include "declare/document.h"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "base/text.h"

namespace perfgate {
namespace {

constexpr size_t kLargestFile = size_t{1} << 20;
constexpr int kDeepest = 64;
// An alias costs what it stands for each time: a few lines of nested aliases would stand for
// billions of values.
constexpr int64_t kMostNodes = 400'000;
constexpr int64_t kMostBytes = int64_t{4} << 20;

Spot SpotOf(const YAML::Mark& mark, int file) {
  if (mark.is_null()) return {file, 0, 0};
  return {file, mark.line + 1, mark.column + 1};
}

std::string Child(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

// Turns yaml-cpp's nodes into ours and finds what YAML allows and these files do not.
class Converter {
 public:
  Converter(int file, Problems& problems) : file_(file), problems_(problems) {}

  bool exhausted() const { return exhausted_; }

  Yaml Convert(const YAML::Node& node, const std::string& path, int depth) {
    Yaml out;
    out.spot = SpotOf(node.Mark(), file_);
    if (exhausted_ || !Spend(node, path, depth)) return out;
    CheckTag(node, path);
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        break;
      case YAML::NodeType::Scalar:
        out.kind = YamlKind::kScalar;
        out.text = node.Scalar();
        out.quoted = node.Tag() == "!";
        break;
      case YAML::NodeType::Sequence:
        out.kind = YamlKind::kList;
        for (const YAML::Node& item : node) {
          out.items.push_back(
              Convert(item, fmt::format("{}[{}]", path, out.items.size()), depth + 1));
        }
        break;
      case YAML::NodeType::Map:
        ConvertMap(node, path, depth, out);
        break;
    }
    return out;
  }

 private:
  bool Spend(const YAML::Node& node, const std::string& path, int depth) {
    nodes_ += 1;
    if (node.IsScalar()) bytes_ += static_cast<int64_t>(node.Scalar().size());
    if (depth <= kDeepest && nodes_ <= kMostNodes && bytes_ <= kMostBytes) return true;
    exhausted_ = true;
    const std::string_view shown = std::string_view(path).substr(0, 120);
    if (depth > kDeepest) {
      problems_.Add(SpotOf(node.Mark(), file_), shown,
                    fmt::format("nested more than {} levels deep; aliases count too", kDeepest));
    } else {
      problems_.Add(SpotOf(node.Mark(), file_), shown,
                    "too much YAML: with its aliases written out the file has more values than "
                    "perfgate reads; use fewer aliases");
    }
    return false;
  }

  void CheckTag(const YAML::Node& node, const std::string& path) {
    const std::string& tag = node.Tag();
    if (tag.empty() || tag == "?" || tag == "!") return;
    problems_.Add(SpotOf(node.Mark(), file_), path,
                  fmt::format("tag {} is not accepted; write the plain value", Quoted(tag)));
  }

  void ConvertMap(const YAML::Node& node, const std::string& path, int depth, Yaml& out) {
    out.kind = YamlKind::kMap;
    std::unordered_map<std::string, Spot> seen;
    for (const auto& entry : node) {
      if (exhausted_) return;
      const Spot spot = SpotOf(entry.first.Mark(), file_);
      if (!entry.first.IsScalar()) {
        problems_.Add(spot, path, "a key must be a text");
        continue;
      }
      const std::string& key = entry.first.Scalar();
      bytes_ += static_cast<int64_t>(key.size());
      const auto [first, fresh] = seen.emplace(key, spot);
      if (key == "<<") {
        problems_.Add(spot, path,
                      "merge keys (<<) are not accepted; use 'defaults', or an alias for a value");
      } else if (!fresh) {
        problems_.Add(spot, path,
                      fmt::format("key {} is there twice, first in line {}", Quoted(key),
                                  first->second.line));
      } else {
        const std::string child = Child(path, Printable(std::string_view(key).substr(0, 80)));
        Yaml value = Convert(entry.second, child, depth + 1);
        out.members.push_back({key, spot, std::move(value)});
      }
    }
  }

  int file_;
  Problems& problems_;
  int64_t nodes_ = 0, bytes_ = 0;
  bool exhausted_ = false;
};

// yaml-cpp reads on after a NUL or bytes that are no UTF-8, with other text than a person sees.
bool IsPlainText(std::string_view text, int file, Problems& problems) {
  Spot spot{file, 1, 1};
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t length = Utf8SequenceLength(text, i);
    const bool control =
        (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7F;
    if (length == 0 || control) {
      problems.Add(spot, "",
                   fmt::format("byte 0x{:02x} is no text; the file must be UTF-8 without control "
                               "characters",
                               byte));
      return false;
    }
    if (byte == '\n') {
      spot.line += 1;
      spot.column = 0;
    }
    spot.column += 1;
    i += length;
  }
  return true;
}

// Counts documents up to the second.
class DocumentCounter : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++count_ == 2) second_ = mark;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  int count() const { return count_; }
  const std::optional<YAML::Mark>& second() const { return second_; }

 private:
  int count_ = 0;
  std::optional<YAML::Mark> second_;
};

// Where a second document begins. YAML::LoadAll would go on: text that yaml-cpp cannot place
// (",a: 1") gives it empty documents without end.
std::optional<YAML::Mark> SecondDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentCounter counter;
  while (counter.count() < 2 && parser.HandleNextDocument(counter)) {
  }
  return counter.second();
}

}  // namespace

const Yaml::Member* Yaml::Find(std::string_view key) const {
  for (const Member& member : members) {
    if (member.key == key) return &member;
  }
  return nullptr;
}

std::optional<Yaml> ParseYaml(std::string_view text, int file, Problems& problems) {
  if (!IsPlainText(text, file, problems)) return std::nullopt;
  try {
    if (const auto second = SecondDocument(std::string(text))) {
      const size_t at = std::min(text.size(), static_cast<size_t>(second->pos));
      const bool marked = text.substr(at).starts_with("---");
      problems.Add(SpotOf(*second, file), "",
                   marked
                       ? "more than one document in the file; write one, without '---' in between"
                       : "not YAML: this does not belong to what stands above");
      return std::nullopt;
    }
    const YAML::Node document = YAML::Load(std::string(text));
    if (!document.IsDefined() || document.IsNull()) {
      problems.Add({file, 0, 0}, "", "the file is empty");
      return std::nullopt;
    }
    Converter converter(file, problems);
    Yaml root = converter.Convert(document, "", 0);
    if (converter.exhausted()) return std::nullopt;
    return root;
  } catch (const YAML::DeepRecursion& e) {
    problems.Add(SpotOf(e.mark, file), "", "nested too deeply to be read");
  } catch (const YAML::Exception& e) {
    problems.Add(SpotOf(e.mark, file), "", fmt::format("not YAML: {}", Printable(e.msg)));
  }
  return std::nullopt;
}

std::optional<std::string> ReadDeclaration(const std::string& path, int file, Problems& problems,
                                           std::string_view if_absent) {
  const auto fail = [&](std::string_view reason) -> std::optional<std::string> {
    problems.Add({file, 0, 0}, "", reason);
    return std::nullopt;
  };
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (status.type() == std::filesystem::file_type::not_found) {
    return fail(fmt::format("no such file; {}", if_absent));
  }
  if (std::filesystem::is_directory(status)) return fail("is a directory, not a file");
  // A pipe that nobody writes to would be waited for without end.
  if (std::filesystem::is_other(status)) return fail("is a pipe or a device, not a file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail("cannot be read; check its permissions");
  std::string text;
  char block[4096];
  while (text.size() <= kLargestFile && (stream.read(block, sizeof block) || stream.gcount() > 0)) {
    text.append(block, static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad()) return fail("cannot be read");
  if (text.size() > kLargestFile) return fail("is larger than 1 MiB, the most that is read");
  return text;
}

}  // namespace perfgate
