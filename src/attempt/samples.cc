// samples.json, schema "perfgate.samples/1" (docs/schema/samples.json).
#include <fmt/format.h>

#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "attempt/attempt.h"
#include "attempt/fields.h"
#include "attempt/paths.h"
#include "base/file.h"
#include "base/json.h"

namespace perfgate {
namespace {

constexpr std::string_view kSamplesSchema = "perfgate.samples/1";
constexpr size_t kMostDimensions = 64;  // as many as a tensor of LibTorch may have
constexpr int64_t kSamplesAtMostBytes = int64_t{64} << 20;

// One word for an element type, however NumPy, C++ or PyTorch say it: bounds go by it.
std::string DtypeFrom(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (text.starts_with("torch.")) text.erase(0, std::string_view("torch.").size());
  static const std::map<std::string, std::string> kAliases = {
      {"float64", "fp64"},         {"double", "fp64"},          {"float32", "fp32"},
      {"float", "fp32"},           {"float16", "fp16"},         {"half", "fp16"},
      {"bfloat16", "bf16"},        {"float8_e5m2", "fp8_e5m2"}, {"float8_e4m3fn", "fp8_e4m3"},
      {"float8_e4m3", "fp8_e4m3"}, {"long", "int64"},           {"int", "int32"},
      {"short", "int16"},
  };
  const auto alias = kAliases.find(text);
  return alias == kAliases.end() ? text : alias->second;
}

Output ReadOutput(const Fields& fields) {
  Output output;
  output.name = fields.Text("name");
  output.shape = fields.Ints("shape");
  if (output.shape.size() > kMostDimensions) {
    fields.Fail("shape", fmt::format("expected at most {} sizes", kMostDimensions));
  }
  output.dtype = DtypeFrom(fields.Text("dtype"));
  output.mean = fields.Number("mean");
  output.min = fields.Number("min");
  output.max = fields.Number("max");
  output.nan_count = fields.Int("nan_count", -1);
  output.inf_count = fields.Int("inf_count", -1);
  output.file = fields.Text("file");
  if (!output.file.empty() && !StaysInside(output.file)) {
    fields.Fail("file", "expected a path inside the attempt folder");
  }
  output.stride = fields.Int("stride", 1, 1);
  return output;
}

// Nothing if the workload does not say: 0 is a part that takes no time.
std::optional<int64_t> ReadPart(const Fields& fields, const char* name) {
  const int64_t ns = fields.Int(name, -1);
  return ns < 0 ? std::nullopt : std::optional(ns);
}

Json WriteOutput(const Output& output) {
  Json json;
  json.Set("name", output.name)
      .Set("shape", Json::ArrayOf(output.shape))
      .Set("dtype", output.dtype)
      .Set("mean", output.mean)
      .Set("min", output.min)
      .Set("max", output.max)
      .Set("file", output.file);
  if (output.stride != 1) json.Set("stride", output.stride);
  if (output.nan_count >= 0) json.Set("nan_count", output.nan_count);
  if (output.inf_count >= 0) json.Set("inf_count", output.inf_count);
  return json;
}

}  // namespace

int64_t ElementsOf(const Output& output) {
  int64_t elements = 1;
  for (const int64_t size : output.shape) {
    if (size == 0) return 0;
    if (__builtin_mul_overflow(elements, size, &elements)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return elements;
}

int64_t SavedElementsOf(const Output& output) {
  const int64_t elements = ElementsOf(output);
  return elements / output.stride + (elements % output.stride != 0);
}

Samples SamplesFromJson(const Json& json, const std::string& name) {
  const Fields fields(json, name);
  fields.RequireSchema(kSamplesSchema);
  Samples samples;
  samples.cold_start_ns = fields.Int("cold_start_ns");
  samples.load_ns = ReadPart(fields, "load_ns");
  samples.compile_ns = ReadPart(fields, "compile_ns");
  samples.first_call_ns = ReadPart(fields, "first_call_ns");
  samples.warmup_iterations = fields.SmallInt("warmup_iterations");
  samples.steady = fields.Bool("steady");
  samples.latency_ns = fields.Ints("latency_ns");
  samples.dispatch_ns = fields.Ints("dispatch_ns");
  samples.dispatch_unavailable = fields.Text("dispatch_unavailable");
  samples.device_latency_ns = fields.Ints("device_latency_ns");
  std::set<std::string> names;
  for (const Fields& output : fields.Objects("outputs")) {
    samples.outputs.push_back(ReadOutput(output));
    if (!names.insert(samples.outputs.back().name).second) {
      output.Fail("name", "another output has the same one");
    }
  }
  samples.inputs = fields.Text("inputs");
  samples.environment = fields.TextMap("environment");
  for (const Fields& fallback : fields.Objects("fallback")) {
    fallback.Require("what");
    samples.fallback.push_back({fallback.Text("what"), fallback.Text("why")});
  }
  samples.plant = fields.Text("plant");
  return samples;
}

Json ToJson(const Samples& samples) {
  Json outputs{Json::Array{}}, fallbacks{Json::Array{}};
  for (const Output& output : samples.outputs) outputs.Push(WriteOutput(output));
  for (const Fallback& fallback : samples.fallback) {
    Json json;
    json.Set("what", fallback.what).Set("why", fallback.why);
    fallbacks.Push(std::move(json));
  }
  Json json;
  json.Set("schema", kSamplesSchema)
      .Set("cold_start_ns", samples.cold_start_ns)
      .Set("warmup_iterations", samples.warmup_iterations)
      .Set("steady", samples.steady)
      .Set("latency_ns", Json::ArrayOf(samples.latency_ns))
      .Set("dispatch_ns", Json::ArrayOf(samples.dispatch_ns))
      .Set("dispatch_unavailable", samples.dispatch_unavailable)
      .Set("device_latency_ns", Json::ArrayOf(samples.device_latency_ns))
      .Set("outputs", std::move(outputs))
      .Set("inputs", samples.inputs)
      .Set("environment", ToJson(samples.environment))
      .Set("fallback", std::move(fallbacks))
      .Set("plant", samples.plant);
  if (samples.load_ns) json.Set("load_ns", *samples.load_ns);
  if (samples.compile_ns) json.Set("compile_ns", *samples.compile_ns);
  if (samples.first_call_ns) json.Set("first_call_ns", *samples.first_call_ns);
  return json;
}

Samples ReadSamples(const std::filesystem::path& file) {
  RequireRegularFile(file);
  return SamplesFromJson(ParseJson(ReadFile(file, kSamplesAtMostBytes), file.string()),
                         file.string());
}

void WriteSamples(const Samples& samples, const std::filesystem::path& file) {
  WriteFileAtomically(file, WriteJson(ToJson(samples), 1));
}

}  // namespace perfgate
