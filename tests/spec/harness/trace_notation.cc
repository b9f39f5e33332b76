#include "harness/trace_notation.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "harness/kernel_words.h"
#include "harness/trace_builder.h"

namespace perfgate::spec {
namespace {

struct Word {
  std::string text;
  bool quoted = false;
};

// `{` and `}` stand alone, `"..."` is one word, blanks inside `[...]` do not end a word, `#` at the
// start of a word begins a comment.
class Lexer {
 public:
  Lexer(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  std::vector<Word> All() {
    std::vector<Word> words;
    while (Skip()) words.push_back(Next());
    return words;
  }

 private:
  bool Skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (!std::isspace(static_cast<unsigned char>(text_[at_]))) {
        return true;
      } else {
        ++at_;
      }
    }
    return false;
  }

  Word Next() {
    if (text_[at_] == '{' || text_[at_] == '}') return {std::string(1, text_[at_++])};
    if (text_[at_] == '"') return Quoted();
    const size_t start = at_;
    for (int depth = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '[') ++depth;
      if (c == ']') --depth;
      if (depth == 0 && (std::isspace(static_cast<unsigned char>(c)) || c == '{' || c == '}'))
        break;
    }
    return {std::string(text_.substr(start, at_ - start))};
  }

  // `\xNN` is one byte, so that a spec can hold names that no text editor can.
  Word Quoted() {
    Word word{"", true};
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_.substr(at_, 2) == "\\x" && at_ + 3 < text_.size()) {
        word.text +=
            static_cast<char>(std::stoi(std::string(text_.substr(at_ + 2, 2)), nullptr, 16));
        at_ += 3;
      } else {
        word.text += text_[at_];
      }
    }
    if (at_ == text_.size()) throw std::runtime_error(where_ + ": a quote is not closed");
    ++at_;
    return word;
  }

  std::string_view text_;
  std::string where_;
  size_t at_ = 0;
};

// "step×2" -> "step", 2. Both signs are known: `×` and `*`.
int TakeRepeat(std::string& word) {
  for (const std::string_view sign : {"×", "*"}) {
    const size_t at = word.rfind(sign);
    if (at == std::string::npos || at == 0) continue;
    const std::string digits = word.substr(at + sign.size());
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) continue;
    word.resize(at);
    return std::stoi(digits);
  }
  return 1;
}

// "aten::mm[[64,768]]" -> "aten::mm", "[[64,768]]".
std::string TakeDims(std::string& word) {
  const size_t at = word.find("[[");
  if (at == std::string::npos) return "";
  std::string dims = word.substr(at);
  word.resize(at);
  return dims;
}

// "aten::mm[[64,768]][float,float]" -> "aten::mm[[64,768]]", "["float", "float"]".
std::string TakeTypes(std::string& word) {
  const size_t at = word.rfind('[');
  if (at == std::string::npos || !word.ends_with(']') || word.ends_with("]]")) return "";
  std::vector<std::string> types = Split(word.substr(at + 1, word.size() - at - 2), ',');
  for (std::string& type : types) type = "\"" + type + "\"";
  word.resize(at);
  return "[" + Join(types, ", ") + "]";
}

class Expander {
 public:
  Expander(std::string_view notation, const std::string& where)
      : where_(where), words_(Lexer(notation, where).All()) {}

  std::string Json() {
    TraceHeader header;
    ReadHeader(header);
    cpu_only_ = header.cpu_only;
    builder_.emplace(header);
    while (at_ < words_.size()) Node();
    std::string json = builder_->Json();
    if (keep_ < 1) json.resize(static_cast<size_t>(std::floor(keep_ * double(json.size()))));
    return json;
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    const std::string near = at_ < words_.size() ? words_[at_].text : "the end";
    throw std::runtime_error(fmt::format("{}: {} at `{}`", where_, what, near));
  }
  bool Is(std::string_view text) const {
    return at_ < words_.size() && !words_[at_].quoted && words_[at_].text == text;
  }
  bool Take(std::string_view text) {
    if (!Is(text)) return false;
    ++at_;
    return true;
  }
  std::string Text(const std::string& what) {
    if (at_ >= words_.size() || Is("{") || Is("}")) Fail("expected " + what);
    return words_[at_++].text;
  }
  std::optional<int64_t> MaybeQuantity(Unit unit) {
    if (at_ >= words_.size() || words_[at_].quoted) return std::nullopt;
    const auto quantity = ParseQuantity(words_[at_].text);
    if (!quantity || quantity->unit != unit) return std::nullopt;
    ++at_;
    return static_cast<int64_t>(std::llround(quantity->value));
  }
  int64_t Duration() {
    if (const auto ns = MaybeQuantity(Unit::kNanoseconds)) return *ns;
    Fail("expected a duration such as 3us");
  }
  int64_t Bytes() {
    if (const auto bytes = MaybeQuantity(Unit::kBytes)) return *bytes;
    Fail("expected a size such as 4096B");
  }

  void ReadHeader(TraceHeader& header) {
    while (true) {
      if (Take("cpu")) {
        header.cpu_only = true;
      } else if (Take("device")) {
        header.gpu = Text("a device name");
        header.sm_count = std::stoi(Text("its number of SMs"));
      } else if (Take("member")) {
        const std::string key = Text("a key");
        header.members[key] = Text("its JSON text");
      } else if (Take("truncate")) {
        keep_ = 0.6;
      } else {
        return;
      }
    }
  }

  // Everything between the braces that open here, `times` times over.
  void Block(int times, const std::function<void()>& open, const std::function<void()>& close) {
    if (!Take("{")) Fail("expected {");
    const size_t start = at_;
    for (int i = 0; i < times; ++i) {
      at_ = start;
      open();
      while (!Is("}")) {
        if (at_ >= words_.size()) Fail("a } is missing");
        Node();
      }
      close();
    }
    ++at_;
  }

  void Node() {
    if (Is("{") || Is("}")) Fail("a brace too many");
    if (words_[at_].quoted) return Named();
    if (words_[at_].text.starts_with("step")) {
      std::string word = words_[at_].text;
      const int times = TakeRepeat(word);
      if (word == "step") {
        ++at_;
        return Block(
            times, [&] { builder_->BeginStep(); }, [&] { builder_->EndStep(); });
      }
    }
    if (!Keyword()) Named();
  }

  bool Keyword() {
    static const std::map<std::string, Defect, std::less<>> kDefects = {
        {"drop", Defect::kDropped},
        {"orphan", Defect::kOrphan},
        {"prewindow", Defect::kPreWindow},
        {"zero-time", Defect::kZeroTime}};
    const std::string word = words_[at_].text;
    if (const auto defect = kDefects.find(word); defect != kDefects.end()) {
      ++at_;
      const std::string name = KernelName();
      builder_->Kernel(name, Duration(), defect->second);
      return true;
    }
    return WorkKeyword();
  }

  bool WorkKeyword() {
    if (Take("memcpy")) {
      const std::string direction = Text("a direction such as DtoH");
      const int64_t bytes = Bytes();
      builder_->Memcpy(direction, bytes, Duration());
    } else if (Take("memset")) {
      const int64_t bytes = Bytes();
      builder_->Memset(bytes, Duration());
    } else if (Take("sync") || Take("call")) {
      const std::string name = Text("a runtime call");
      builder_->Call(name, MaybeQuantity(Unit::kNanoseconds).value_or(5'000));
    } else if (Take("alloc")) {
      builder_->Memory(Bytes());
    } else if (Take("free")) {
      builder_->Memory(-Bytes());
    } else if (Take("idle")) {
      builder_->Idle(Duration());
    } else if (Take("annotation")) {
      const std::string name = Text("a name");
      Block(
          1, [&] { builder_->BeginAnnotation(name); }, [&] { builder_->EndAnnotation(); });
    } else if (Take("stream")) {
      const int64_t outer = builder_->stream(), inner = std::stoll(Text("a number"));
      Block(
          1, [&] { builder_->SetStream(inner); }, [&] { builder_->SetStream(outer); });
    } else if (Take("graph")) {
      Graph();
    } else {
      return false;
    }
    return true;
  }

  void Graph() {
    if (!Take("{")) Fail("expected {");
    std::vector<std::pair<std::string, int64_t>> kernels;
    while (!Take("}")) {
      const std::string name = KernelName();
      kernels.emplace_back(name, Duration());
    }
    builder_->Graph(kernels);
  }

  std::string KernelName() {
    const bool quoted = at_ < words_.size() && words_[at_].quoted;
    const std::string text = Text("a kernel");
    return quoted ? text : ExactKernelName(text);
  }

  // An operator with a block, or a leaf with a duration: an operator in a trace of a CPU or by the
  // name `aten::`, else a kernel.
  void Named() {
    const bool quoted = words_[at_].quoted;
    std::string name = words_[at_++].text;
    int times = 1;
    Inputs inputs;
    if (!quoted) {
      times = TakeRepeat(name);
      inputs.types = TakeTypes(name);
      inputs.dims = TakeDims(name);
    }
    if (Is("{")) {
      return Block(
          times, [&] { builder_->BeginOperator(name, inputs); }, [&] { builder_->EndOperator(); });
    }
    const int64_t ns = Duration();
    for (int i = 0; i < times; ++i) {
      if (cpu_only_ || (!quoted && name.starts_with("aten::"))) {
        builder_->Operator(name, ns, inputs);
      } else {
        builder_->Kernel(quoted ? name : ExactKernelName(name), ns);
      }
    }
  }

  std::string where_;
  std::vector<Word> words_;
  size_t at_ = 0;
  double keep_ = 1;
  bool cpu_only_ = false;
  std::optional<TraceBuilder> builder_;
};

}  // namespace

std::string ExpandTrace(std::string_view notation, const std::string& where) {
  return Expander(notation, where).Json();
}

}  // namespace perfgate::spec
