// Reading speed of a trace: the fast road, the reference reader, and a plain RapidJSON SAX reader
// over a 64 KiB stream that fills the same records without repairing anything. Interleaved rounds.
//
//   trace_bench ROUNDS FILE...
#include <fcntl.h>
#include <fmt/format.h>
#include <rapidjson/reader.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trace/handler.h"
#include "trace/reference.h"

namespace perfgate {
namespace {

// Plain or gzip, as zlib's own gzread has it.
class PlainStream {
 public:
  using Ch = char;

  explicit PlainStream(const std::filesystem::path& path)
      : packed_(path.extension() == ".gz"), buffer_(kBytes + 1) {
    if (packed_) {
      file_ = gzopen(path.c_str(), "rb");
      gzbuffer(file_, kBytes);
    } else {
      fd_ = ::open(path.c_str(), O_RDONLY);
    }
    Refill();
  }
  ~PlainStream() {
    if (packed_) gzclose(file_);
    if (fd_ >= 0) ::close(fd_);
  }
  PlainStream(const PlainStream&) = delete;
  PlainStream& operator=(const PlainStream&) = delete;

  char Peek() const { return *at_; }
  char Take() {
    const char taken = *at_;
    if (at_ == end_) return taken;
    if (++at_ == end_) Refill();
    return taken;
  }
  size_t Tell() const { return 0; }
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  size_t PutEnd(char*) { return 0; }

 private:
  static constexpr unsigned kBytes = 64 << 10;

  void Refill() {
    const auto got =
        packed_ ? gzread(file_, buffer_.data(), kBytes) : ::read(fd_, buffer_.data(), kBytes);
    at_ = buffer_.data();
    end_ = at_ + std::max<long>(0, static_cast<long>(got));
    buffer_[static_cast<size_t>(end_ - at_)] = '\0';
  }

  bool packed_;
  gzFile file_ = nullptr;
  int fd_ = -1;
  std::vector<char> buffer_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

TraceData ReadPlain(const std::filesystem::path& path) {
  TraceData trace;
  TraceHandler handler(trace);
  PlainStream stream(path);
  rapidjson::Reader reader;
  constexpr unsigned kFlags = rapidjson::kParseNumbersAsStringsFlag;
  if (reader.Parse<kFlags>(stream, handler).IsError()) std::exit(1);
  handler.Finish();
  return trace;
}

struct Road {
  const char* name;
  std::function<TraceData(const std::filesystem::path&)> read;
  std::vector<double> seconds{}, cpu_seconds{};
};

// Of all threads of this process.
double CpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

TraceData ReadByFastRoad(const std::filesystem::path& path, int workers) {
  ByteSource source(path);
  std::optional<TraceData> trace = ReadFast(source, {FastReading{}.window_bytes, workers});
  if (!trace) std::exit(1);
  return std::move(*trace);
}

void Measure(const std::filesystem::path& path, int rounds) {
  std::array<Road, 4> roads = {{
      {"RapidJSON SAX, 64 KiB stream, 1 thread", ReadPlain},
      {"reference reader, 1 thread",
       [](const auto& file) {
         ByteSource source(file);
         return ReadReference(source, file);
       }},
      {"fast road, 1 thread", [](const auto& file) { return ReadByFastRoad(file, 1); }},
      {"fast road, 2 threads", [](const auto& file) { return ReadByFastRoad(file, 2); }},
  }};
  int64_t json_bytes = 0;
  size_t events = 0;
  for (int round = 0; round < rounds; ++round) {
    for (Road& road : roads) {
      const double cpu_start = CpuSeconds();
      const auto start = std::chrono::steady_clock::now();
      const TraceData trace = road.read(path);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      road.seconds.push_back(taken.count());
      road.cpu_seconds.push_back(CpuSeconds() - cpu_start);
      json_bytes = std::max(json_bytes, trace.json_bytes);
      if (events != 0 && events != trace.events.size()) std::exit(1);
      events = trace.events.size();
    }
  }
  fmt::print("{}: {} bytes of JSON, {} records\n\n", path.filename().string(), json_bytes, events);
  fmt::print(
      "| reader | seconds (median of {}) | MB/s | times as fast (median of the rounds) "
      "| CPU seconds |\n",
      rounds);
  fmt::print("|---|---|---|---|---|\n");
  const auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
  };
  for (const Road& road : roads) {
    std::vector<double> ratios;
    for (size_t i = 0; i < road.seconds.size(); ++i) {
      ratios.push_back(roads[0].seconds[i] / road.seconds[i]);
    }
    const double seconds = median(road.seconds);
    fmt::print("| {} | {:.2f} | {:.0f} | {:.1f} | {:.2f} |\n", road.name, seconds,
               static_cast<double>(json_bytes) / seconds / 1e6, median(ratios),
               median(road.cpu_seconds));
  }
  fmt::print("\n");
}

}  // namespace
}  // namespace perfgate

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 0;
  if (rounds < 1 || argc < 3) {
    fmt::print(stderr, "usage: trace_bench ROUNDS FILE...\n");
    return 2;
  }
  for (int i = 2; i < argc; ++i) perfgate::Measure(argv[i], rounds);
  return 0;
}
