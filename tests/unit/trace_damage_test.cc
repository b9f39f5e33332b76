// Files that were cut off, damaged or compressed oddly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "base/file.h"
#include "trace/trace.h"
#include "trace_builder.h"

namespace perfgate {
namespace {

using testing::HasSubstr;

std::string Gzip(std::string_view text) {
  z_stream zlib{};
  constexpr int kGzip = 16 + MAX_WBITS;
  deflateInit2(&zlib, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY);
  std::string out(compressBound(text.size()) + 64, '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  deflate(&zlib, Z_FINISH);
  out.resize(out.size() - zlib.avail_out);
  deflateEnd(&zlib);
  return out;
}

std::string SmallTrace() {
  TraceBuilder builder;
  builder.Header(R"("deviceProperties": [{"id": 0, "name": "H200", "numSms": 132}],)")
      .Step(1, 0, 10'000)
      .Op("aten::mm", 1000, 3000, "[[2, 3]]")
      .Launch("a\\u00e9 \\\"k\\\"", 1500, 7)
      .Memory(2000, 512)
      .Footer(R"(, "traceName": "small.json")");
  return builder.Json();
}

bool LooksWhole(const TraceData& trace) {
  return trace.refused.empty() && trace.incomplete.empty();
}

TEST(DamagedTrace, CutAtEveryByteNeverLooksWhole) {
  const std::string whole = SmallTrace();
  const size_t end = whole.find_last_of('}');
  const ScratchFile file("trace.json", whole);
  ASSERT_TRUE(LooksWhole(TryReadTrace(file.path())));
  for (size_t size = 0; size <= end; ++size) {
    file.Write(std::string_view(whole).substr(0, size));
    EXPECT_FALSE(LooksWhole(TryReadTrace(file.path()))) << "cut at byte " << size;
  }
}

TEST(DamagedTrace, CutGzipAtEveryByteNeverLooksWhole) {
  const std::string whole = Gzip(SmallTrace());
  const ScratchFile file("trace.json.gz", whole);
  ASSERT_TRUE(LooksWhole(TryReadTrace(file.path())));
  for (size_t size = 0; size < whole.size(); ++size) {
    file.Write(std::string_view(whole).substr(0, size));
    EXPECT_FALSE(LooksWhole(TryReadTrace(file.path()))) << "cut at byte " << size;
  }
}

TEST(DamagedTrace, KeepsTheEventsBeforeTheCutAndSaysWhere) {
  TraceBuilder builder;
  for (int i = 0; i < 5000; ++i) builder.Op("aten::mm", i * 1000, 500);
  const std::string whole = builder.Json();
  const std::string cut = whole.substr(0, whole.size() / 2);
  const ScratchFile file("trace.json", cut);
  const TraceData trace = TryReadTrace(file.path());
  EXPECT_GT(trace.events.size(), 2400U);
  EXPECT_EQ(trace.incomplete, fmt::format("the file is cut off at byte {}, after {} events",
                                          cut.size(), trace.events.size()));
}

TEST(DamagedTrace, AGzipErrorInsideIsTold) {
  std::string bytes = Gzip(SmallTrace());
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 0x40);  // the checksum
  const ScratchFile file("trace.json.gz", bytes);
  EXPECT_THAT(TryReadTrace(file.path()).incomplete,
              HasSubstr("the gzip data is corrupt near byte"));
}

TEST(DamagedTrace, SeveralGzipMembersAreOneFile) {
  const std::string whole = SmallTrace();
  const ScratchFile file("trace.json",
                         Gzip(whole.substr(0, 100)) + Gzip("") + Gzip(whole.substr(100)));
  const TraceData trace = TryReadTrace(file.path());
  EXPECT_TRUE(LooksWhole(trace)) << trace.incomplete;
  EXPECT_EQ(trace.events.size(), 5U);
}

TEST(DamagedTrace, PaddingBehindGzipIsAWarning) {
  const ScratchFile file("trace.json.gz", Gzip(SmallTrace()) + std::string(512, '\0'));
  const TraceData trace = TryReadTrace(file.path());
  EXPECT_TRUE(LooksWhole(trace)) << trace.incomplete;
  EXPECT_THAT(trace.warnings, testing::Contains("bytes behind the gzip data, not read"));
}

TEST(DamagedTrace, EveryChangedByteIsHarmless) {
  const std::string whole = SmallTrace();
  const ScratchFile file("trace.json", whole);
  int read = 0, changes = 0;
  for (size_t at = 0; at < whole.size(); at += 5) {
    for (const char byte : {'"', '\\', '\0'}) {
      ++changes;
      std::string changed = whole;
      changed[at] = byte;
      file.Write(changed);
      read += static_cast<int>(TryReadTrace(file.path()).events.size() <= 5);
    }
  }
  EXPECT_EQ(read, changes);
}

TEST(DamagedTrace, WindowsBreakNothingWhereverTheyFall) {
  // Strings, escapes and numbers at every position around the window's edge of 64 KiB.
  TraceBuilder builder;
  builder.Op(R"(n\\\"\u00e9\ud83d\ude00)", 123'456'789, 1234);
  const std::string event = builder.Json();
  const ScratchFile file("trace.json", "");
  for (size_t pad = 65'340; pad < 65'540; pad += 3) {
    file.Write(std::string(pad, ' ') + event);
    const TraceData trace = TryReadTrace(file.path());
    ASSERT_TRUE(LooksWhole(trace)) << pad << " " << trace.incomplete << trace.refused;
    ASSERT_EQ(trace.events[0].start_ns, 123'456'789);
    ASSERT_EQ(trace.Text(trace.events[0].name), "n\\\"\xC3\xA9\xF0\x9F\x98\x80");
    ASSERT_TRUE(trace.warnings.empty()) << trace.warnings[0];
  }
}

}  // namespace
}  // namespace perfgate
