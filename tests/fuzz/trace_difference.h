// Whether the two roads of the trace reader agree.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "trace/reference.h"

namespace perfgate {

inline std::string DifferenceOfEvents(const TraceData& a, const TraceData& b) {
  if (a.events.size() != b.events.size()) {
    return fmt::format("{} and {} events", a.events.size(), b.events.size());
  }
  const auto fields = [](const TraceEvent& e) {
    return std::make_tuple(e.start_ns, e.duration_ns, e.correlation, e.external_id, e.bytes, e.name,
                           e.process, e.thread, e.detail, e.stream, e.device, e.kind);
  };
  for (size_t i = 0; i < a.events.size(); ++i) {
    if (fields(a.events[i]) != fields(b.events[i])) return fmt::format("event {}", i);
  }
  return "";
}

inline std::string DifferenceOfTables(const TraceData& a, const TraceData& b) {
  if (a.texts.size() != b.texts.size()) {
    return fmt::format("{} and {} texts", a.texts.size(), b.texts.size());
  }
  for (uint32_t i = 0; i < a.texts.size(); ++i) {
    if (a.Text(i) != b.Text(i)) return fmt::format("text {}", i);
  }
  if (a.shapes != b.shapes) return "shapes";
  if (a.messages != b.messages) return "messages";
  if (a.signatures != b.signatures) return "signatures";
  if (a.RecordBytes() != b.RecordBytes()) return "bytes of the records";
  return "";
}

inline std::string DifferenceOfDocuments(const TraceData& a, const TraceData& b) {
  const auto devices = [](const TraceData& t) {
    std::string text;
    for (const DeviceProperties& d : t.devices) {
      text += fmt::format("{} {} {} {} {};", d.id, d.name, d.sm_count, d.memory_bytes, d.uuid);
    }
    return text;
  };
  if (devices(a) != devices(b)) return "devices";
  // All members by name: a new one does not compile until it is compared, here or elsewhere.
  const auto facts = [](const TraceData& t) {
    const auto& [events, texts, shapes, messages, signatures, devices_seen, base_ns,
                 whole_microseconds, cupti, runtime, driver, record_shapes, with_stack,
                 profile_memory, rank, world_size, writer, profiler, footer, records, dropped,
                 fault, environment, gpu_rows, accelerator, events_read, left_out, warnings,
                 incomplete, refused, json_bytes] = t;
    return std::make_tuple(base_ns, whole_microseconds, cupti, runtime, driver, record_shapes,
                           with_stack, profile_memory, rank, world_size, writer, profiler, footer,
                           records, dropped, fault, environment, gpu_rows, accelerator);
  };
  if (facts(a) != facts(b)) return "metadata";
  if (a.events_read != b.events_read) return "number of events read";
  if (a.left_out != b.left_out) return "what was left out";
  if (a.warnings != b.warnings) {
    return fmt::format("warnings [{}] and [{}]", fmt::join(a.warnings, "; "),
                       fmt::join(b.warnings, "; "));
  }
  if (a.incomplete != b.incomplete) return a.incomplete + " | " + b.incomplete;
  if (a.refused != b.refused) return a.refused + " | " + b.refused;
  if (a.json_bytes != b.json_bytes) return "bytes of JSON";
  return "";
}

// What differs; empty if nothing does.
inline std::string Difference(const TraceData& a, const TraceData& b) {
  if (std::string found = DifferenceOfDocuments(a, b); !found.empty()) return found;
  if (std::string found = DifferenceOfEvents(a, b); !found.empty()) return found;
  return DifferenceOfTables(a, b);
}

struct BothRoads {
  bool fast = false;       // the fast road read it
  std::string difference;  // from the reference reader; empty where the fast road gave way
};

inline BothRoads ReadBothRoads(std::string_view contents, const FastReading& reading) {
  ByteSource source(contents);
  const std::optional<TraceData> fast = ReadFast(source, reading);
  if (!fast) return {};
  ByteSource again(contents);
  return {true, Difference(ReadReference(again, "trace.json"), *fast)};
}

}  // namespace perfgate
