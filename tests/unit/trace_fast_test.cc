// The fast road of the reader gives what the reference reader gives, or gives way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "../fuzz/trace_difference.h"
#include "base/file.h"
#include "trace_builder.h"

namespace perfgate {
namespace {

constexpr FastReading kTiny{256, 2}, kSmall{4096, 2}, kLarge{};

std::vector<std::filesystem::path> RecordedTraces() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(PERFGATE_TEST_DATA "/traces")) {
    if (entry.path().extension() == ".gz") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string Decompressed(const std::filesystem::path& path) {
  ByteSource source(path);
  std::string text(size_t{1} << 24, '\0');
  text.resize(source.Read(text.data(), text.size()));
  return text;
}

// A short trace of the same writer: every so many events of a recorded one.
std::string Excerpt(const std::string& trace, size_t events) {
  constexpr std::string_view kBetween = "\n  },\n  {\n";
  const size_t head = trace.find("\n  {\n") + 1;
  std::vector<std::string> all;
  size_t at = head;
  for (size_t next = trace.find(kBetween, at); next != std::string::npos;
       next = trace.find(kBetween, at)) {
    all.push_back(trace.substr(at, next + 4 - at));
    at = next + 6;
  }
  std::string text = trace.substr(0, head);
  const size_t step = std::max<size_t>(1, all.size() / events);
  for (size_t i = 0; i < all.size(); i += step) text += all[i] + ",\n";
  return text + trace.substr(at);
}

TEST(FastRoad, ReadsEveryRecordedTraceLikeTheReferenceReader) {
  const auto paths = RecordedTraces();
  ASSERT_GE(paths.size(), 31U);
  for (const auto& path : paths) {
    for (const std::string& contents : {Decompressed(path), ReadFile(path)}) {
      for (const FastReading& reading : {kTiny, kSmall, kLarge}) {
        const BothRoads both = ReadBothRoads(contents, reading);
        EXPECT_TRUE(both.fast) << path << " in windows of " << reading.window_bytes;
        EXPECT_EQ(both.difference, "") << path << " in windows of " << reading.window_bytes;
      }
    }
  }
}

class Mutants {
 public:
  explicit Mutants(unsigned seed) : random_(seed) {}

  std::string Of(const std::string& text) {
    static constexpr std::string_view kBytes =
        "\"\\{}[],:0123456789-+.eEtfnu \n\t\r\0\x01\x7F\x80\xFF/aX";
    std::string mutant = text;
    const size_t at = Below(text.size());
    const char byte = kBytes[Below(kBytes.size())];
    switch (Below(5)) {
      case 0:
        mutant.resize(at);
        break;
      case 1:
        mutant.insert(at, 1, byte);
        break;
      case 2:
        mutant.erase(at, 1 + Below(3));
        break;
      default:
        mutant[at] = byte;
    }
    return mutant;
  }
  size_t Below(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random_);
  }

 private:
  std::mt19937 random_;
};

TEST(FastRoad, AgreesOnThousandsOfDamagedTraces) {
  constexpr int kMutants = 150;
  int fast = 0, all = 0;
  Mutants mutants(20261130);
  for (const auto& path : RecordedTraces()) {
    const std::string excerpt = Excerpt(Decompressed(path), 12);
    ASSERT_LT(excerpt.size(), 60'000U) << path;
    ASSERT_TRUE(ReadBothRoads(excerpt, kTiny).fast) << path;
    for (int i = 0; i < kMutants; ++i) {
      const std::string mutant = mutants.Of(excerpt);
      const BothRoads both = ReadBothRoads(mutant, i % 2 == 0 ? kTiny : kSmall);
      ASSERT_EQ(both.difference, "") << path << " mutant " << i << "\n" << mutant;
      ++all;
      fast += both.fast;
    }
  }
  // Many changes are harmless: a digit, a letter of a name, a blank.
  EXPECT_GT(fast * 5, all);
}

// Documents as other writers put them, with more or less of what is odd or broken.
class Dialects {
 public:
  explicit Dialects(unsigned seed) : random_(seed) {}

  std::string Document() {
    blank_ = Any({"", " ", "\n    ", "\r\n\t", "  \n"});
    odd_one_in_ = std::array<size_t, 3>{10, 200, 4000}[Below(3)];
    std::string text = "{" + blank_ + R"("schemaVersion": 1,)" + blank_;
    if (OneIn(2)) text += R"("deviceProperties": [{"id": 0, "name": "H200", "numSms": 132}], )";
    if (OneIn(2)) text += R"("distributedInfo": {"rank": 1, "world_size": 2}, )";
    text += "\"traceEvents\":" + blank_ + "[" + blank_;
    const size_t events = Below(30);
    for (size_t i = 0; i < events; ++i) text += (i > 0 ? "," + blank_ : "") + Event();
    if (OneIn(20)) text += ",";
    text += blank_ + "]";
    if (OneIn(2)) text += "," + blank_ + R"("baseTimeNanoseconds": 1790857026000000000)";
    if (OneIn(3)) text += R"(, "traceName": "a/]}, {\"ph\": x.json")";
    if (OneIn(8)) text += R"(, "traceEvents": [)" + Event() + "]";
    return text + blank_ + "}" + blank_;
  }

 private:
  using Choices = std::vector<std::string>;

  size_t Below(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random_);
  }
  bool OneIn(size_t many) { return Below(many) == 0; }
  std::string Any(const Choices& choices) { return choices[Below(choices.size())]; }
  std::string Any(const Choices& choices, const Choices& odd) {
    return Any(OneIn(odd_one_in_) ? odd : choices);
  }

  std::string Member(const std::string& key, const std::string& value) {
    return "\"" + key + "\":" + blank_ + value;
  }

  std::string Object(const Choices& members) {
    std::string text = "{" + blank_;
    for (size_t i = 0; i < members.size(); ++i) text += (i > 0 ? "," + blank_ : "") + members[i];
    return text + blank_ + "}";
  }

  std::string Event() {
    if (OneIn(odd_one_in_)) return Any({"1", "null", "[]", "{}", "\"x\"", R"({"ph":"X",})"});
    Choices members = {
        Member("ph", Any({"\"X\"", "\"X\"", "\"X\"", "\"M\"", "\"s\"", "\"i\"", "\"C\""})),
        Member("cat", Any({"\"cpu_op\"", "\"kernel\"", "\"cuda_runtime\"", "\"cuda_driver\"",
                           "\"gpu_memcpy\"", "\"user_annotation\"", "\"python_function\"",
                           "\"cpu_instant_event\"", "\"overhead\"", "\"quantum\"", "\"Kernel\""})),
        Member("name", Name()),
        Member("pid", Any({"1", "0", "\"Spans\"", "\"GPU 3\"", "-1"}, {"{}", "1.", "+1"})),
        Member("tid",
               Any({"1", "7", "\"stream 7\"", "18446744073709551615"}, {"[7]", "\"a\\u0062\""})),
        Member("ts", Time()),
        Member("dur", Time())};
    if (!OneIn(5)) members.push_back(Member("args", Args()));
    if (OneIn(4)) members.push_back(Member("id", Value(0)));
    if (OneIn(10)) members.push_back(members[Below(members.size())]);
    if (OneIn(10)) members.erase(members.begin() + static_cast<int>(Below(members.size())));
    if (OneIn(3)) std::shuffle(members.begin(), members.end(), random_);
    return Object(members);
  }

  std::string Name() {
    return Any({"\"aten::mm\"", "\"[memory]\"", "\"nn.Module: Linear_3\"", "\"INVALID\"",
                R"("a \"quoted\" name")", R"("\u00e9\ud83d\ude00")", "\"\xC3\xA9\"",
                "\"not \xFF UTF-8\"", "\"\"", "\"" + std::string(300, 'k') + "\""},
               {"\"}, {\\\"ph\\\": \"", "\"},{\"", "null", "7", "\"tab\there\"", R"("c\d")",
                R"("a "bare" quote")", R"("\ud83d")"});
  }

  std::string Time() {
    return Any({"5132254838507.939", "10.5", "12", "0", "1683564901549715", "1e3", "-1", "\"10.5\"",
                "0.001", "7.1234567", "99999999999999999999999"},
               {"01", "null", "1.", "NaN", ".5", "1e", "1e999"});
  }

  std::string Args() {
    Choices members;
    const size_t count = Below(9);
    for (size_t i = 0; i < count; ++i) {
      const std::string key =
          Any({"External id", "correlation", "Input Dims", "Input type", "Input Strides", "stream",
               "device", "bytes", "grid", "block", "Sequence number", "Fwd thread id", "Call stack",
               "Module Hierarchy", "Device Type", "finished", "cbid", "Bytes", "k"},
              {"a\\u0062", "", "with \" quote", std::string(300, 'k')});
      members.push_back(Member(key, OneIn(3) ? Value(0) : Usual(key)));
    }
    return Object(members);
  }

  std::string Usual(const std::string& key) {
    if (key.starts_with("Input D") || key.starts_with("Input S")) {
      return Any({"[[2, 3], [], [4]]", "[]", "[[512,1024],[1024]]", "[[[1, 2], [3]], []]",
                  "[[ 1 ]]", "[[1]]"});
    }
    if (key == "Input type") {
      return Any({R"(["float", "", "Scalar"])", "[]", R"(["a,b", "]"])", "[\"\xFF\"]"});
    }
    if (key == "Module Hierarchy") return Any({"\"TOP(Net)\"", "\"TOP(N\xFFt)\"", "\"\""});
    if (key == "grid" || key == "block") return Any({"[4, 2, 1]", "[256,1,1]", "[1]", "[1,2,3,4]"});
    if (key == "finished") return Any({"true", "false"});
    return Any({"1", "7", "-1", "4096", "\"7\"", "18446744073709551615", "\"some text\""});
  }

  std::string Value(int depth) {
    switch (Below(depth > 3 ? 4 : 7)) {
      case 0:
        return Any({"true", "false", "null"}, {"inf", "nul", "-Infinity", "truefalse"});
      case 1:
        return Any({"0", "-0", "12.50", "1E5", "1.5e-3", "123456789012345678901234567890"},
                   {"-", "00", std::string(70, '1')});
      case 2:
        return "\"" + std::string(Below(80), 'x') +
               Any({"", "\\n", "\\\"", "[", "}", "\\u00e9"}, {"\\u12", "\x01"}) + "\"";
      case 3:
        return Any({"[]", "\"\"", "{}"}, {"[1,]", "[1 2]", "[,1]", "{\"a\":}", "[1}"});
      case 4:
      case 5:
        return "[" + Value(depth + 1) + "," + blank_ + Value(depth + 1) + "]";
      default:
        return Object({Member("key", Value(depth + 1)), Member("ph", Value(depth + 1))});
    }
  }

  std::mt19937 random_;
  std::string blank_;
  size_t odd_one_in_ = 1;
};

TEST(FastRoad, AgreesOnAllDialects) {
  int fast = 0;
  Dialects dialects(7);
  for (int i = 0; i < 3000; ++i) {
    const std::string document = dialects.Document();
    const BothRoads both = ReadBothRoads(document, i % 2 == 0 ? kTiny : kSmall);
    ASSERT_EQ(both.difference, "") << "document " << i << "\n" << document;
    fast += both.fast;
  }
  EXPECT_GT(fast, 1000);
}

bool IsFast(const std::string& event) {
  TraceBuilder builder;
  const BothRoads both = ReadBothRoads(builder.Op("aten::mm", 0, 1).Raw(event).Json(), kLarge);
  EXPECT_EQ(both.difference, "") << event;
  return both.fast;
}

TEST(FastRoad, TakesUnusualEventsOneByOne) {
  for (
      const char* event : {
          R"({"ph":"X","cat":"cpu_op","name":"a \"b\"","pid":1,"tid":1,"ts":1,"dur":1})",
          R"({"ph":"X","cat":"cpu_op","name":"\u00e9","pid":1,"tid":1,"ts":1,"dur":1})",
          R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1e3,"dur":1})",
          R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"x":1e3}})",
          R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,})",
      }) {
    EXPECT_TRUE(IsFast(event)) << event;
  }
}

TEST(FastRoad, GivesWayToTheReferenceReaderForWhatIsMended) {
  EXPECT_FALSE(IsFast("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\tb\",\"ts\":1}"));
  EXPECT_FALSE(IsFast(R"({"ph":"X","cat":"cpu_op","name":"c:\d","ts":1})"));
  EXPECT_FALSE(IsFast(R"({"ph":"X","cat":"cpu_op","name":"a","ts":1,"args":{"x":inf}})"));
}

// Signatures that were met before need no second look, but what is mended in them is counted.
TEST(FastRoad, CountsWhatIsNotUtf8AsOftenAsItStands) {
  for (const char* args : {
           "\"Input Dims\": [[2]], \"Input type\": [\"\xFF\"]",
           "\"Input Dims\": [[\"\xFF\"]], \"Input type\": [\"a\"]",
           "\"Input type\": [\"\xFF\"]",
           "\"Module Hierarchy\": \"\xFF\"",
       }) {
    TraceBuilder builder;
    for (int i = 0; i < 5; ++i) builder.Host("cpu_op", "aten::mm", i * 1000, 500, args);
    const std::string json = builder.Json();
    ByteSource source{std::string_view(json)};
    const std::optional<TraceData> fast = ReadFast(source);
    ASSERT_TRUE(fast.has_value()) << args;
    EXPECT_THAT(fast->warnings, testing::ElementsAre("5 names that are not UTF-8")) << args;
    EXPECT_EQ(ReadBothRoads(json, kLarge).difference, "") << args;
  }
}

TEST(FastRoad, AgreesWhereOnlySomeNamesAreNotUtf8) {
  TraceBuilder builder;
  for (int i = 0; i < 9; ++i) {
    builder.Host("cpu_op", i % 3 == 0 ? "n\xFF" : "aten::mm", i * 1000, 500,
                 R"("Input Dims": [[2]], "Input type": ["a"])");
  }
  const BothRoads both = ReadBothRoads(builder.Json(), kTiny);
  EXPECT_TRUE(both.fast);
  EXPECT_EQ(both.difference, "");
}

TEST(FastRoad, WindowsAreCutWhateverTheOrderOfTheKeys) {
  for (const char* first : {"ph", "name", "cat", "ts", "pid", "args"}) {
    std::string text = "{\"traceEvents\": [";
    for (int i = 0; i < 200; ++i) {
      const std::string value = std::string(first) == "args" ? "{}" : "\"X\"";
      text += fmt::format(R"({}{{"{}": {}, "cat": "cpu_op", "name": "op{}", "ts": {}}})",
                          i > 0 ? ", " : "", first, value, i % 7, i);
    }
    const BothRoads both = ReadBothRoads(text + "]}", kTiny);
    EXPECT_TRUE(both.fast) << first;
    EXPECT_EQ(both.difference, "") << first;
  }
}

TEST(FastRoad, ManyDifferentNamesCostNoSecondTable) {
  TraceBuilder builder;
  for (int i = 0; i < 60'000; ++i) builder.Op(fmt::format("a_name_of_its_own_{}", i), i, 1);
  const BothRoads both = ReadBothRoads(builder.Json(), {size_t{64} << 10, 2});
  EXPECT_TRUE(both.fast);
  EXPECT_EQ(both.difference, "");
}

}  // namespace
}  // namespace perfgate
