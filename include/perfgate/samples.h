// What a process of the attempt contract leaves beside its trace: samples.json, and how it is
// written. Header-only, C++17, POSIX; comes with perfgate/attempt.h.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <locale>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace perfgate {
namespace attempt {

struct Output {
  std::string name;
  std::vector<int64_t> shape;
  std::string dtype;
  double mean = 0, min = 0, max = 0;  // over the finite elements
  int64_t nan_count = 0, inf_count = 0;
  std::string file;    // in the folder: elements as little-endian float32; "" if not saved
  int64_t stride = 1;  // the file holds every stride-th, from the first; see outputs.h
};

struct Fallback {
  std::string what, why;  // "hand_fused", "built without nvcc"
};

// What samples.json holds, schema "perfgate.samples/1".
struct Samples {
  int64_t cold_start_ns = 0;  // start of the process to its first result
  // Its parts; -1: unknown. Compilation is in neither of the others, where it is known.
  int64_t load_ns = -1;        // until the first call: libraries, model, weights
  int64_t compile_ns = -1;     // before the first call and in it
  int64_t first_call_ns = -1;  // the first iteration
  int warmup_iterations = 0;
  bool steady = false;
  std::vector<int64_t> latency_ns;   // one an iteration of the timed window
  std::vector<int64_t> dispatch_ns;  // until the call returned; empty where that means nothing
  std::vector<int64_t> device_latency_ns;  // by the device's own clock; empty if it has none
  std::string dispatch_unavailable;        // the reason then
  std::vector<Output> outputs;
  std::string inputs;  // names the numbers that went in, whatever dtype they got: "seed 1, batch 8"
  std::map<std::string, std::string> environment;
  std::vector<Fallback> fallback;
  std::string plant;  // the planted defect, if the program put it in
};

namespace internal {

inline std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

inline std::string Number(double value) {
  if (!std::isfinite(value)) return "null";  // JSON has no NaN
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(17);
  out << value;
  return out.str();
}

inline std::string List(const std::vector<int64_t>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + std::to_string(values[i]);
  return out + "]";
}

// All or nothing: readers see the whole file or none.
inline void WriteWhole(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".part";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool good = fd >= 0;
  for (size_t done = 0; good && done < text.size();) {
    const ssize_t count = write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    good = count >= 0;
    done += good ? static_cast<size_t>(count) : 0;
  }
  good = good && fsync(fd) == 0;
  const int fault = errno;
  if (fd >= 0) close(fd);
  if (!good) {
    unlink(temporary.c_str());
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(fault));
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
  }
}

inline std::string ToJson(const Output& output) {
  return "{\"name\": " + Quoted(output.name) + ", \"shape\": " + List(output.shape) +
         ", \"dtype\": " + Quoted(output.dtype) + ", \"mean\": " + Number(output.mean) +
         ", \"min\": " + Number(output.min) + ", \"max\": " + Number(output.max) +
         ", \"nan_count\": " + std::to_string(output.nan_count) +
         ", \"inf_count\": " + std::to_string(output.inf_count) +
         ", \"file\": " + Quoted(output.file) + ", \"stride\": " + std::to_string(output.stride) +
         "}";
}

inline std::string ToJson(const Samples& samples) {
  std::string out = "{\n  \"schema\": \"perfgate.samples/1\",\n";
  out += "  \"cold_start_ns\": " + std::to_string(samples.cold_start_ns) + ",\n";
  const std::pair<const char*, int64_t> parts[] = {{"load_ns", samples.load_ns},
                                                   {"compile_ns", samples.compile_ns},
                                                   {"first_call_ns", samples.first_call_ns}};
  for (const auto& [name, ns] : parts) {
    if (ns >= 0) out += "  " + Quoted(name) + ": " + std::to_string(ns) + ",\n";
  }
  out += "  \"warmup_iterations\": " + std::to_string(samples.warmup_iterations) + ",\n";
  out += std::string("  \"steady\": ") + (samples.steady ? "true" : "false") + ",\n";
  out += "  \"latency_ns\": " + List(samples.latency_ns) + ",\n";
  out += "  \"dispatch_ns\": " + List(samples.dispatch_ns) + ",\n";
  out += "  \"device_latency_ns\": " + List(samples.device_latency_ns) + ",\n";
  out += "  \"dispatch_unavailable\": " + Quoted(samples.dispatch_unavailable) + ",\n";
  std::string separator;
  out += "  \"outputs\": [";
  for (const Output& output : samples.outputs) {
    out += separator + ToJson(output);
    separator = ", ";
  }
  out += "],\n  \"inputs\": " + Quoted(samples.inputs) + ",\n  \"environment\": {";
  separator = "";
  for (const auto& [key, value] : samples.environment) {
    out += separator + Quoted(key) + ": " + Quoted(value);
    separator = ", ";
  }
  out += "},\n  \"fallback\": [";
  separator = "";
  for (const Fallback& fallback : samples.fallback) {
    out += separator + "{\"what\": " + Quoted(fallback.what) +
           ", \"why\": " + Quoted(fallback.why) + "}";
    separator = ", ";
  }
  return out + "],\n  \"plant\": " + Quoted(samples.plant) + "\n}\n";
}

}  // namespace internal

}  // namespace attempt
}  // namespace perfgate
