// The notation of a `--- program` section.
#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "base/text.h"
#include "base/units.h"
#include "harness/scripted_world.h"

namespace perfgate::spec {
namespace {

int64_t Nanoseconds(std::string_view text, const std::string& where) {
  const auto quantity = ParseQuantity(Trim(text));
  if (!quantity || quantity->unit != Unit::kNanoseconds) {
    throw std::runtime_error(fmt::format("{}: `{}` is no duration", where, text));
  }
  return static_cast<int64_t>(quantity->value);
}

// "100us ×60, 120us" -> sixty of 100 us and one of 120 us.
std::vector<int64_t> Durations(std::string_view text, const std::string& where) {
  constexpr std::string_view kTimes = "×";
  std::vector<int64_t> out;
  for (const std::string& part : Split(text, ',')) {
    const size_t at = part.find(kTimes);
    const int64_t ns = Nanoseconds(part.substr(0, at), where);
    const int count = at == std::string::npos ? 1 : std::stoi(part.substr(at + kTimes.size()));
    out.insert(out.end(), static_cast<size_t>(count), ns);
  }
  return out;
}

int SignalNumber(std::string_view name, const std::string& where) {
  if (name == "SIGSEGV") return SIGSEGV;
  if (name == "SIGABRT") return SIGABRT;
  if (name == "SIGKILL") return SIGKILL;
  throw std::runtime_error(fmt::format("{}: no such signal here: {}", where, name));
}

// "y fp32 64x768 mean 0.5 nan 3 inf 1 file y.f32 stride 2"
Output ParseOutput(std::string_view text, const std::string& where) {
  std::istringstream in{std::string(text)};
  Output output;
  output.nan_count = output.inf_count = 0;
  std::string shape, key;
  in >> output.name >> output.dtype >> shape;
  for (const std::string& size : Split(shape, 'x')) output.shape.push_back(std::stoll(size));
  while (in >> key) {
    if (key == "mean") {
      in >> output.mean;
    } else if (key == "nan") {
      in >> output.nan_count;
    } else if (key == "inf") {
      in >> output.inf_count;
    } else if (key == "file") {
      in >> output.file;
    } else if (key == "stride") {
      in >> output.stride;
    } else {
      throw std::runtime_error(fmt::format("{}: an output has no `{}`", where, key));
    }
  }
  output.min = output.mean - 1;
  output.max = output.mean + 1;
  return output;
}

// "1 2.5 nan -inf" -> the bytes of these numbers as little-endian float32.
std::string Float32(std::string_view text, const std::string& where) {
  std::string bytes;
  for (const std::string& word : Split(text, ' ')) {
    if (word.empty()) continue;
    char* end = nullptr;
    const float value = std::strtof(word.c_str(), &end);
    if (*end != '\0') throw std::runtime_error(fmt::format("{}: `{}` is no number", where, word));
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

void SetPairs(std::string_view text, std::map<std::string, std::string>& into) {
  for (const std::string& part : Split(text, ',')) {
    const size_t equals = part.find('=');
    into[std::string(Trim(part.substr(0, equals)))] =
        equals == std::string::npos ? "" : std::string(Trim(part.substr(equals + 1)));
  }
}

bool SetEnding(std::string_view key, std::string_view value, const std::string& where,
               Behaviour& into) {
  if (key == "exit") {
    into.exit_code = std::stoi(std::string(value));
  } else if (key == "signal") {
    into.outcome = Outcome::kSignalled;
    into.signal = SignalNumber(value, where);
  } else if (key == "hang") {
    into.outcome = Outcome::kTimedOut;
  } else if (key == "not started") {
    into.outcome = Outcome::kNotStarted;
  } else if (key == "stdout") {
    into.stdout_text += std::string(value) + "\n";
  } else if (key == "stderr") {
    into.stderr_text += std::string(value) + "\n";
  } else {
    return false;
  }
  return true;
}

bool SetSamples(std::string_view key, std::string_view value, const std::string& where,
                Behaviour& into) {
  Samples& samples = into.samples;
  if (key == "latency") {
    samples.latency_ns = Durations(value, where);
    into.default_latency = false;
  } else if (key == "latency in turn") {
    for (const std::string& turn : Split(std::string(value), '|')) {
      into.latency_in_turn.push_back(Durations(turn, where));
    }
    into.default_latency = false;
  } else if (key == "dispatch") {
    samples.dispatch_ns = Durations(value, where);
    into.default_dispatch = false;
  } else if (key == "no dispatch") {
    samples.dispatch_unavailable = value;
    into.default_dispatch = false;
  } else if (key == "cold start") {
    samples.cold_start_ns = Nanoseconds(value, where);
  } else if (key == "load") {
    samples.load_ns = Nanoseconds(value, where);
  } else if (key == "compile") {
    samples.compile_ns = Nanoseconds(value, where);
  } else if (key == "first call") {
    samples.first_call_ns = Nanoseconds(value, where);
  } else if (key == "output") {
    samples.outputs.push_back(ParseOutput(value, where));
  } else if (key == "inputs") {
    samples.inputs = value;
  } else if (key == "environment") {
    SetPairs(value, samples.environment);
  } else if (key == "fallback") {
    const size_t colon = value.find(':');
    samples.fallback.push_back(
        {std::string(value.substr(0, colon)),
         std::string(Trim(value.substr(std::min(colon + 1, value.size()))))});
  } else if (key == "steady") {
    samples.steady = value != "no";
  } else if (key == "plant") {
    samples.plant = value;
  } else if (key == "honours plant") {
    into.honours_plant = true;
  } else if (key == "samples") {
    into.writes_samples = value != "none";
    if (into.writes_samples) into.raw_samples = std::string(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Behaviour ParseBehaviour(std::string_view text, const std::string& where) {
  Behaviour behaviour;
  behaviour.samples.cold_start_ns = 1'000'000'000;
  behaviour.samples.warmup_iterations = 20;
  behaviour.samples.steady = true;
  behaviour.samples.environment = {{"torch", "2.11.0"}};
  std::vector<std::string> entries;
  for (const std::string& line : Split(text, '\n')) {
    if (Trim(line).empty()) continue;
    // An indented line goes on with the one before.
    if (line.starts_with(" ") && !entries.empty()) {
      entries.back() += "\n" + line;
    } else {
      entries.push_back(line);
    }
  }
  for (const std::string& entry : entries) {
    const size_t colon = entry.find(':');
    const std::string_view key = Trim(std::string_view(entry).substr(0, colon));
    const std::string_view value =
        colon == std::string::npos ? "" : Trim(std::string_view(entry).substr(colon + 1));
    if (key == "trace") {
      behaviour.traces.emplace_back("trace.json", value);
    } else if (key.starts_with("trace ")) {
      behaviour.traces.emplace_back(key.substr(6), value);
    } else if (key.starts_with("file ")) {
      behaviour.files.emplace_back(key.substr(5), value);
    } else if (key.starts_with("values ")) {
      behaviour.files.emplace_back(key.substr(7), Float32(value, where));
    } else if (!SetEnding(key, value, where, behaviour) &&
               !SetSamples(key, value, where, behaviour)) {
      throw std::runtime_error(fmt::format("{}: a program has no `{}`", where, key));
    }
  }
  return behaviour;
}

}  // namespace perfgate::spec
