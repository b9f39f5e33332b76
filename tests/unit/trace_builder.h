// Writes small traces, one line of code an event. Times are nanoseconds.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate {

class TraceBuilder {
 public:
  TraceBuilder& Raw(std::string event) {
    events_.push_back(std::move(event));
    return *this;
  }

  TraceBuilder& Host(std::string_view category, std::string_view name, int64_t start_ns,
                     int64_t duration_ns, std::string_view args = "", int thread = 1,
                     int process = 100) {
    return Raw(fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
        category, name, process, thread, Us(start_ns), Us(duration_ns), args));
  }

  TraceBuilder& Step(int number, int64_t start_ns, int64_t duration_ns, int thread = 1) {
    return Host("user_annotation", fmt::format("ProfilerStep#{}", number), start_ns, duration_ns,
                "", thread);
  }
  TraceBuilder& Op(std::string_view name, int64_t start_ns, int64_t duration_ns,
                   std::string_view dims = "") {
    return Host("cpu_op", name, start_ns, duration_ns,
                dims.empty() ? "" : fmt::format(R"("Input Dims": {})", dims));
  }
  TraceBuilder& Call(std::string_view name, int64_t start_ns, int64_t duration_ns, int64_t id,
                     int process = 100) {
    const std::string_view category = name.starts_with("cuda") ? "cuda_runtime" : "cuda_driver";
    return Host(category, name, start_ns, duration_ns, fmt::format(R"("correlation": {})", id), 1,
                process);
  }
  TraceBuilder& Gpu(std::string_view category, std::string_view name, int64_t start_ns,
                    int64_t duration_ns, int64_t id, std::string_view more = "", int stream = 7,
                    int device = 0) {
    return Raw(fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"device": {}, "stream": {}, "correlation": {}{}}}}})",
        category, name, device, stream, Us(start_ns), Us(duration_ns), device, stream, id, more));
  }
  TraceBuilder& Kernel(std::string_view name, int64_t start_ns, int64_t duration_ns, int64_t id,
                       int stream = 7, int device = 0) {
    return Gpu("kernel", name, start_ns, duration_ns, id, "", stream, device);
  }
  // A launch call and its kernel 1 us later.
  TraceBuilder& Launch(std::string_view kernel, int64_t start_ns, int64_t id,
                       int64_t kernel_ns = 2000) {
    return Call("cudaLaunchKernel", start_ns, 500, id)
        .Kernel(kernel, start_ns + 1000, kernel_ns, id);
  }
  TraceBuilder& Memory(int64_t at_ns, int64_t bytes, int device_type = 0) {
    return Raw(fmt::format(
        R"({{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, "tid": 1, "ts": {}, "args": {{"Device Type": {}, "Device Id": {}, "Bytes": {}, "Addr": 18446744073709551615, "finished": false}}}})",
        Us(at_ns), device_type, device_type > 0 ? 0 : -1, bytes));
  }
  // Top-level JSON before the events, with its comma: R"("profile_memory": 1,)".
  TraceBuilder& Header(std::string_view text) {
    header_ += text;
    return *this;
  }
  TraceBuilder& Footer(std::string_view text) {
    footer_ += text;
    return *this;
  }

  std::string Json() const {
    std::string text = fmt::format("{{\"schemaVersion\": 1, {}\n\"traceEvents\": [\n", header_);
    for (size_t i = 0; i < events_.size(); ++i) text += (i > 0 ? ",\n" : "") + events_[i];
    return text + "\n]" + footer_ + "}\n";
  }
  const std::vector<std::string>& events() const { return events_; }

 private:
  static std::string Us(int64_t ns) {
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
  }

  std::vector<std::string> events_;
  std::string header_, footer_;
};

// A file of the test's own, removed with it.
class ScratchFile {
 public:
  ScratchFile(std::string_view name, std::string_view contents)
      : folder_(
            std::filesystem::temp_directory_path() /
            fmt::format("perfgate-{}-{}", static_cast<const void*>(this),
                        std::filesystem::file_time_type::clock::now().time_since_epoch().count())),
        path_(folder_ / name) {
    std::filesystem::create_directories(folder_);
    Write(contents);
  }
  ~ScratchFile() { std::filesystem::remove_all(folder_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void Write(std::string_view contents) const {
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path folder_, path_;
};

}  // namespace perfgate
