#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "trace/handler.h"
#include "trace/repair.h"
#include "trace/source.h"
#include "trace/trace.h"

namespace perfgate {
namespace {

// What the first bytes say a file is, if they cannot start a JSON document.
std::string NotJson(std::string_view head) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kMagics = {{
      {"\x89PNG", "a PNG image"},
      {"SQLite format 3", "an SQLite database (an Nsight Systems export?)"},
      {"PK\x03\x04", "a zip archive"},
      {"\x7F"
       "ELF",
       "a program"},
      {"\x1F\x8B", "gzip inside gzip"},
      {"\x80\x04", "a Python pickle (a memory snapshot?)"},
      {"\x80\x02", "a Python pickle (a memory snapshot?)"},
      {"%PDF", "a PDF document"},
      {"\xFF\xFE", "UTF-16 text"},
  }};
  for (const auto& [magic, what] : kMagics) {
    if (head.starts_with(magic)) return std::string(what);
  }
  const size_t first = head.find_first_not_of(" \n\r\t\xEF\xBB\xBF");
  if (first == std::string_view::npos) return "";
  if (head[first] == '{' || head[first] == '[') return "";
  // Perfetto's packets are field 1 of their file: the byte 0x0A, then a length.
  const bool text = std::all_of(head.begin(), head.end(), [](unsigned char byte) {
    return (byte >= 0x20 && byte != 0x7F) || byte == '\n' || byte == '\r' || byte == '\t';
  });
  if (head[0] == '\n' && !text) return "a Perfetto protobuf trace (.pftrace)";
  return text ? "text that is no JSON" : "binary data";
}

// What a document is that was read but holds no trace; empty if it is a trace.
std::string NoTrace(const DocumentFacts& facts, const RepairedStream& stream) {
  if (stream.head().find_first_not_of(" \n\r\t") == std::string::npos && facts.top_keys == 0 &&
      !facts.root_is_array) {
    return "an empty file";
  }
  if (std::string what = NotJson(stream.head()); !what.empty()) return what;
  if (facts.root_is_array) {
    if (facts.list_items > 0) return "a list of lists (a memory timeline of torch.profiler?)";
    if (facts.call_or_gpu_events > 0) return "";
    return "a top-level list without GPU evidence (the legacy exporter of PyTorch without Kineto)";
  }
  if (facts.has_events_key) return "";
  if (facts.has_nodes_key) return "an execution trace (its key is \"nodes\", not \"traceEvents\")";
  if (facts.top_keys == 0) return "an empty JSON object";
  return "JSON without the key \"traceEvents\"";
}

// Why a document that could not be parsed to its end is no whole trace.
std::string ParseFault(const rapidjson::ParseResult& result, const TraceHandler& handler,
                       const ByteSource& source, const RepairedStream& stream, int64_t events) {
  const std::string after = fmt::format("after {}", Plural(events, "event"));
  if (!source.fault().empty()) return fmt::format("{}, {}", source.fault(), after);
  const bool at_end = stream.AtEnd();
  const std::string where =
      fmt::format("at byte {}{}, {}", stream.Offset(),
                  source.compressed() ? " of the decompressed data" : "", after);
  if (!handler.problem().empty()) return fmt::format("{} {}", handler.problem(), where);
  if (result.Code() == rapidjson::kParseErrorDocumentRootNotSingular) {
    return fmt::format("a second document follows {}", where);
  }
  if (at_end) return fmt::format("the file is cut off {}", where);
  return fmt::format("broken JSON {} ({})", where, rapidjson::GetParseError_En(result.Code()));
}

void CheckFooter(TraceData& trace) {
  if (!trace.incomplete.empty()) return;
  if (trace.profiler == "cupti" && !trace.footer) {
    trace.incomplete = "the collector's footer is missing: the process ended before it was written";
  } else if (trace.footer && trace.footer_dropped != 0) {
    trace.incomplete =
        trace.footer_dropped == kAbsent
            ? "the collector's footer does not say how many records were dropped"
            : fmt::format("the collector dropped {}", Plural(trace.footer_dropped, "record"));
  } else if (trace.footer && trace.footer_records != kAbsent &&
             trace.footer_records != trace.events_read) {
    trace.incomplete = fmt::format("the collector wrote {}, the file holds {}",
                                   Plural(trace.footer_records, "record"), trace.events_read);
  }
}

void Parse(ByteSource& source, TraceData& trace) {
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseTrailingCommasFlag;
  RepairedStream stream(source);
  TraceHandler handler(trace);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, handler);
  handler.Finish();
  for (std::string& line : stream.Warnings()) trace.warnings.push_back(std::move(line));
  trace.refused = NoTrace(handler.facts(), stream);
  if (result.IsError()) {
    trace.incomplete = ParseFault(result, handler, source, stream, trace.events_read);
    // Broken text behind the events (log lines with bare quotes) costs no evidence, as long as the
    // document still comes to its end.
    if (trace.refused.empty() && handler.facts().events_ended && !stream.AtEnd() &&
        result.Code() != rapidjson::kParseErrorDocumentRootNotSingular &&
        stream.SkipToEnd() == '}' && source.fault().empty()) {
      trace.warnings.push_back(trace.incomplete + ": behind the events, not used");
      trace.incomplete.clear();
    }
  } else if (!source.fault().empty()) {
    trace.incomplete =
        fmt::format("{}, after {}", source.fault(), Plural(trace.events_read, "event"));
  }
  if (source.trailing_bytes()) trace.warnings.push_back("bytes behind the gzip data, not read");
  trace.json_bytes = stream.bytes_read();
}

}  // namespace

TraceData TryReadTrace(const std::filesystem::path& path) {
  TraceData trace;
  ByteSource source(path);
  if (!source.opened()) {
    trace.refused = source.fault();
    return trace;
  }
  Parse(source, trace);
  if (!trace.refused.empty()) {
    const std::string cut = trace.incomplete.empty() ? "" : fmt::format(" ({})", trace.incomplete);
    trace.refused = fmt::format("not a trace but {}{}", trace.refused, cut);
    return trace;
  }
  CheckFooter(trace);
  return trace;
}

TraceData ReadTrace(const std::filesystem::path& path) {
  TraceData trace = TryReadTrace(path);
  if (trace.refused.empty()) return trace;
  throw Error(Fault::kInput,
              fmt::format("{}: {}. Give a trace that torch.profiler's export_chrome_trace, Kineto "
                          "or perfgate's collector wrote (.json or .json.gz)",
                          path.string(), trace.refused));
}

}  // namespace perfgate
