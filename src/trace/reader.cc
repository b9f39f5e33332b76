#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "trace/handler.h"
#include "trace/identify.h"
#include "trace/reference.h"
#include "trace/repair.h"
#include "trace/source.h"
#include "trace/trace.h"

namespace perfgate {
namespace {

constexpr unsigned kReadingFlags = rapidjson::kParseIterativeFlag |
                                   rapidjson::kParseNumbersAsStringsFlag |
                                   rapidjson::kParseTrailingCommasFlag;

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
    const bool document = stream.Peek() == '{' || stream.Peek() == '[';
    return fmt::format(
        "{} {}",
        document ? "a second document follows" : "text that is no JSON follows the document",
        where);
  }
  if (at_end) return fmt::format("the file is cut off {}", where);
  return fmt::format("broken JSON {} ({})", where, rapidjson::GetParseError_En(result.Code()));
}

}  // namespace

void CheckFooter(TraceData& trace) {
  if (!trace.incomplete.empty()) return;
  if (trace.profiler == "cupti" && !trace.footer) {
    trace.incomplete = "the collector's footer is missing: the process ended before it was written";
  } else if (!trace.footer_fault.empty()) {
    trace.incomplete = Printable(trace.footer_fault);
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

namespace {

DocumentEnd EndOf(const rapidjson::ParseResult& result, const RepairedStream& stream) {
  if (!result.IsError()) return DocumentEnd::kWhole;
  if (result.Code() == rapidjson::kParseErrorDocumentRootNotSingular) {
    return DocumentEnd::kAnotherFollows;
  }
  return stream.AtEnd() ? DocumentEnd::kCutOff : DocumentEnd::kBroken;
}

// Broken text behind the events (log lines with bare quotes) costs no evidence, as long as the
// document still comes to its end.
bool OnlyTheRestIsBroken(DocumentEnd end, const TraceHandler& handler, const ByteSource& source,
                         RepairedStream& stream) {
  return end == DocumentEnd::kBroken && handler.facts().events_ended && stream.SkipToEnd() == '}' &&
         source.fault().empty();
}

void Parse(ByteSource& source, const std::filesystem::path& path, TraceData& trace) {
  RepairedStream stream(source);
  TraceHandler handler(trace);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kReadingFlags>(stream, handler);
  handler.Finish();
  for (std::string& line : stream.Warnings()) trace.warnings.push_back(std::move(line));
  const DocumentEnd end = EndOf(result, stream);
  // Compressed data that broke off before its first byte hides what it is.
  const bool unseen = stream.head().empty() && !source.fault().empty();
  std::string other = unseen ? "" : Identify(handler.facts(), stream.head(), path, end);
  if (result.IsError()) {
    trace.incomplete = ParseFault(result, handler, source, stream, trace.events_read);
    if (other.empty() && OnlyTheRestIsBroken(end, handler, source, stream)) {
      trace.warnings.push_back(trace.incomplete + ": behind the events, not used");
      trace.incomplete.clear();
    }
  } else if (!source.fault().empty()) {
    trace.incomplete =
        fmt::format("{}, after {}", source.fault(), Plural(trace.events_read, "event"));
  } else if (stream.swallowed() > 0) {
    trace.incomplete = fmt::format("{} of an event inside a text: what stood before it is lost",
                                   Plural(stream.swallowed(), "key stands", "keys stand"));
  }
  if (!other.empty()) {
    const bool cut = !handler.facts().keys.empty() && end != DocumentEnd::kAnotherFollows &&
                     !trace.incomplete.empty();
    trace.refused = fmt::format("not a trace but {}{}", other,
                                cut ? fmt::format(" ({})", trace.incomplete) : "");
  }
  if (source.trailing_bytes()) trace.warnings.push_back("bytes behind the gzip data, not read");
  trace.json_bytes = stream.bytes_read();
}

}  // namespace

TraceData ReadReference(ByteSource& source, const std::filesystem::path& path) {
  TraceData trace;
  Parse(source, path, trace);
  if (trace.refused.empty()) CheckFooter(trace);
  return trace;
}

bool ReadClean(std::string_view json, TraceHandler& handler) {
  ByteSource source(json);
  RepairedStream stream(source);
  rapidjson::Reader reader;
  return !reader.Parse<kReadingFlags>(stream, handler).IsError() && stream.Warnings().empty();
}

TraceData TryReadTrace(const std::filesystem::path& path) {
  ByteSource source(path);
  if (!source.opened()) {
    TraceData trace;
    trace.refused = source.fault();
    return trace;
  }
  if (!source.can_be_read_again()) return ReadReference(source, path);
  if (std::optional<TraceData> trace = ReadFast(source)) return std::move(*trace);
  ByteSource again(path);
  return ReadReference(again, path);
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
