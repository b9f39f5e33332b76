// A trace for C++ programs without a profiler: header-only, C++17, POSIX. See attempt.h for the
// use.
#pragma once

#include <perfgate/attempt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace perfgate {
namespace attempt {

// A small recorder for programs without a profiler: named spans become operators (category cpu_op)
// of a Kineto-schema trace. Outside the traced window a span costs one branch. Threads may share
// it; all spans of a window must have ended before the window does.
class Spans {
 public:
  class Scope {
   public:
    Scope(Spans& spans, const char* name) : spans_(spans.open_ ? &spans : nullptr), name_(name) {
      if (spans_ != nullptr) start_ns_ = internal::NowNs();
    }
    ~Scope() {
      if (spans_ != nullptr) spans_->Add(name_, "cpu_op", start_ns_, internal::NowNs());
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Spans* spans_;
    const char* name_;
    int64_t start_ns_ = 0;
  };

  // Of this recorder, which must outlive it.
  Tracer AsTracer() {
    Tracer tracer;
    tracer.begin = [this] { open_ = true; };
    tracer.step = [this](int index, const std::function<void()>& body) {
      const int64_t start = internal::NowNs();
      body();
      Add("ProfilerStep#" + std::to_string(index), "user_annotation", start, internal::NowNs());
    };
    tracer.end = [this](const std::string& path) {
      open_ = false;
      Write(path);
    };
    return tracer;
  }

 private:
  struct Span {
    std::string name;
    const char* category;
    int64_t start_ns, end_ns;
    long thread;
  };

  void Add(const std::string& name, const char* category, int64_t start_ns, int64_t end_ns) {
    const std::lock_guard<std::mutex> lock(mutex_);
    spans_.push_back({name, category, start_ns, end_ns, syscall(SYS_gettid)});
  }

  static std::string Microseconds(int64_t ns) {  // exact: three decimals are nanoseconds
    char text[40];
    std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(ns / 1000),
                  static_cast<int>(ns % 1000));
    return text;
  }

  void Write(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
      return std::make_pair(a.start_ns, -a.end_ns) < std::make_pair(b.start_ns, -b.end_ns);
    });
    std::string out =
        "{\n\"schemaVersion\": 1,\n\"displayTimeUnit\": \"ms\",\n\"perfgate_writer\": "
        "\"attempt.h\",\n"
        "\"traceEvents\": [\n";
    const std::string pid = std::to_string(getpid());
    for (size_t i = 0; i < spans_.size(); ++i) {
      const Span& span = spans_[i];
      out += "{\"ph\": \"X\", \"cat\": \"" + std::string(span.category) +
             "\", \"name\": " + internal::Quoted(span.name) + ", \"pid\": " + pid +
             ", \"tid\": " + std::to_string(span.thread) +
             ", \"ts\": " + Microseconds(span.start_ns) +
             ", \"dur\": " + Microseconds(span.end_ns - span.start_ns) + "}" +
             (i + 1 < spans_.size() ? ",\n" : "\n");
    }
    internal::WriteWhole(path, out + "]\n}\n");
    spans_.clear();
  }

  std::atomic<bool> open_{false};
  std::mutex mutex_;
  std::vector<Span> spans_;
};

}  // namespace attempt
}  // namespace perfgate
