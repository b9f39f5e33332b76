// The two roads of the reader, for tests and benchmarks. The reference reader decides what is
// right; the fast one gives the same or nothing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

#include "trace/handler.h"
#include "trace/source.h"
#include "trace/trace.h"

namespace perfgate {

// RapidJSON behind the repairing filter. Never throws for what the data holds; `path` only helps to
// say what a file is that is no trace.
TraceData ReadReference(ByteSource& source, const std::filesystem::path& path);

struct FastReading {
  size_t window_bytes = size_t{512} << 10;
  int workers = 2;  // threads; no more are used than the machine has and the file needs
};

// Events by EventScanner, on several threads. Nothing if the data holds what only the reference
// reader may judge: damage, repairs, no list of events. The result of both is the same, to the last
// index and byte offset.
std::optional<TraceData> ReadFast(ByteSource& source, const FastReading& reading = {});

// Reads a JSON document as the reference reader does. True if it was valid and nothing was mended.
bool ReadClean(std::string_view json, TraceHandler& handler);

// What the collector's footer says of the events.
void CheckFooter(TraceData& trace);

}  // namespace perfgate
