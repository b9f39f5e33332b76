#include "trace/identify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "base/text.h"

namespace perfgate {
namespace {

using Name = std::pair<std::string_view, std::string_view>;
using namespace std::string_view_literals;

constexpr const char* kAlmostJson = "text that starts like JSON but is none";
constexpr std::string_view kBlanks = " \n\r\t";

// First bytes, longer ones before shorter ones.
constexpr std::array kMagics = {
    Name{"SQLite format 3", "an SQLite database (an Nsight Systems or rocprof export?)"},
    Name{"\x89PNG", "a PNG image"},
    Name{"\xFF\xD8\xFF", "a JPEG image"},
    Name{"GIF8", "a GIF image"},
    Name{"%PDF", "a PDF document"},
    Name{"\x7F"
         "ELF",
         "a program or library (ELF)"},
    Name{"MZ\x90", "a Windows program"},
    Name{"\xCF\xFA\xED\xFE", "a macOS program"},
    Name{"!<arch>\n", "a library archive"},
    Name{"NVR\0"sv, "an Nsight Compute report (.ncu-rep)"},
    Name{"PERFILE2", "a recording of Linux perf (perf.data)"},
    Name{"\x1F\x8B", "gzip inside gzip: decompress it once"},
    Name{"\x1F\x9D", "a file compressed by compress(1): decompress it first"},
    Name{"\xFD"
         "7zXZ",
         "a file compressed by xz: decompress it first"},
    Name{"\x28\xB5\x2F\xFD", "a file compressed by zstd: decompress it first"},
    Name{"BZh", "a file compressed by bzip2: decompress it first"},
    Name{"\x04\x22\x4D\x18", "a file compressed by lz4: decompress it first"},
    Name{"\x78\x9C", "a zlib stream: decompress it first"},
    Name{"\x78\xDA", "a zlib stream: decompress it first"},
    Name{"7z\xBC\xAF", "a 7z archive: unpack it first"},
    Name{"Rar!", "a RAR archive: unpack it first"},
    Name{"\x80\x02", "a Python pickle (a memory snapshot of PyTorch, or a checkpoint?)"},
    Name{"\x80\x03", "a Python pickle (a memory snapshot of PyTorch, or a checkpoint?)"},
    Name{"\x80\x04", "a Python pickle (a memory snapshot of PyTorch, or a checkpoint?)"},
    Name{"\x80\x05", "a Python pickle (a memory snapshot of PyTorch, or a checkpoint?)"},
    Name{"\x93NUMPY", "a NumPy array (.npy)"},
    Name{"\x89HDF", "an HDF5 file"},
    Name{"PAR1", "a Parquet file"},
    Name{"ARROW1", "an Arrow file"},
    Name{"GGUF", "model weights (GGUF)"},
    Name{"BC\xC0\xDE", "LLVM bitcode"},
    Name{"\0asm"sv, "WebAssembly"},
    Name{"\xFF\xFE", "UTF-16 text: save it as UTF-8"},
    Name{"\xFE\xFF", "UTF-16 text: save it as UTF-8"},
    Name{"{\0"sv, "UTF-16 text: save it as UTF-8"},
    Name{"\0{"sv, "UTF-16 text: save it as UTF-8"},
    Name{"[\0"sv, "UTF-16 text: save it as UTF-8"},
    Name{"\0["sv, "UTF-16 text: save it as UTF-8"},
    // marshal of a dict whose first key is a tuple, which no JSON looks like
    Name{"{\xA9", "a profile of cProfile (Python marshal)"},
    Name{"{(", "a profile of cProfile (Python marshal)"},
    Name{"{)", "a profile of cProfile (Python marshal)"},
};

// Binary files without a mark of their own, by what they are called.
constexpr std::array kExtensions = {
    Name{".nsys-rep", "an Nsight Systems report (.nsys-rep)"},
    Name{".qdrep", "an Nsight Systems report (.qdrep)"},
    Name{".ncu-rep", "an Nsight Compute report (.ncu-rep)"},
    Name{".qdstrm", "an Nsight Systems stream (.qdstrm)"},
    Name{".pftrace", "a Perfetto protobuf trace (.pftrace)"},
    Name{".perfetto-trace", "a Perfetto protobuf trace"},
    Name{".pb", "a protobuf file (.pb)"},
    Name{".onnx", "an ONNX model"},
    Name{".rpd", "an RPD database of ROCm"},
};

// Starts of text files.
constexpr std::array kTexts = {
    Name{"version https://git-lfs", "a Git LFS pointer: the file itself was not fetched"},
    Name{"/annex/objects/", "a git-annex pointer: the file itself was not fetched"},
    Name{"<!DOCTYPE html", "an HTML page (an error page of a download?)"},
    Name{"<!doctype html", "an HTML page (an error page of a download?)"},
    Name{"<html", "an HTML page (an error page of a download?)"},
    Name{"<HTML", "an HTML page (an error page of a download?)"},
    Name{"<?xml", "an XML document"},
    Name{"<svg", "an SVG image"},
    Name{"#!", "a script"},
    Name{"%YAML", "a YAML file"},
    Name{"---\n", "a YAML file"},
    Name{"Traceback (most recent call last)", "the text of a Python error"},
    Name{"==PROF==", "the output of Nsight Compute"},
    Name{"# tracer:", "an ftrace log"},
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

bool IsText(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](unsigned char byte) {
    return (byte >= 0x20 && byte != 0x7F) || byte == '\n' || byte == '\r' || byte == '\t';
  });
}

std::string ByExtension(const std::filesystem::path& path) {
  std::filesystem::path name = path.filename();
  if (name.extension() == ".gz") name = name.stem();
  for (const auto& [extension, what] : kExtensions) {
    if (name.extension() == extension) return std::string(what);
  }
  return "";
}

std::string BinaryFile(std::string_view head, const std::filesystem::path& path) {
  if (std::string what = ByExtension(path); !what.empty()) return what;
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) {
    if (Contains(head, "data.pkl")) return "a PyTorch file (a model or checkpoint, .pt)";
    if (Contains(head, ".npy")) return "NumPy arrays (.npz)";
    return "a zip archive: unpack it first";
  }
  if (head.size() > 262 && head.substr(257, 5) == "ustar") return "a tar archive: unpack it first";
  if (Contains(head, "brain.Event:")) return "an event file of TensorBoard";
  if (head.size() > 9 && head[8] == '{' && head.substr(2, 6) == "\0\0\0\0\0\0"sv) {
    return "model weights (safetensors)";
  }
  // Protobufs whose field 1 is a message: the planes of XLA's profiles, Perfetto's packets.
  if (head.starts_with('\n') && (Contains(head, "/host:") || Contains(head, "/device:"))) {
    return "a profile of XLA (protobuf, .xplane.pb)";
  }
  if (head.starts_with('\n')) return "a Perfetto protobuf trace (.pftrace)";
  return "binary data";
}

size_t Count(std::string_view text, char byte) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), byte));
}

// A first line of names parted by `separator`, and a second one with as many parts.
bool IsTable(std::string_view head, char separator) {
  const std::string_view first = FirstLine(head);
  if (first.size() == head.size()) return Count(first, separator) >= 2;
  const std::string_view second = FirstLine(head.substr(first.size() + 1));
  return Count(first, separator) >= 1 && Count(second, separator) >= Count(first, separator);
}

// "key: value", "key:" or "- item".
bool LooksLikeYaml(std::string_view head) {
  for (std::string_view line = FirstLine(head); !head.empty(); line = FirstLine(head)) {
    head.remove_prefix(std::min(head.size(), line.size() + 1));
    line = Trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("- ")) line.remove_prefix(2);
    const size_t colon = line.find(':');
    return colon != std::string_view::npos && colon > 0 &&
           (colon + 1 == line.size() || line[colon + 1] == ' ') &&
           line.substr(0, colon).find_first_of(" ,;(<") == std::string_view::npos;
  }
  return false;
}

// "main;forward;addmm 12"
bool LooksLikeFoldedStacks(std::string_view line) {
  line = Trim(line);
  const size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || blank + 1 == line.size()) return false;
  return Contains(line.substr(0, blank), ";") &&
         line.find_first_not_of("0123456789", blank + 1) == std::string_view::npos;
}

std::string TextFile(std::string_view head) {
  const std::string_view text = head.substr(std::min(head.find_first_not_of(kBlanks), head.size()));
  for (const auto& [start, what] : kTexts) {
    if (text.starts_with(start)) return std::string(what);
  }
  if (Contains(text, "Self CPU")) return "the printed table of key_averages()";
  if (Contains(text, "KernelName") && IsTable(text, ',')) return "a CSV table of rocprof";
  if (LooksLikeFoldedStacks(FirstLine(text))) return "folded stacks (export_stacks)";
  if (IsTable(text, ',')) return "a CSV table";
  if (IsTable(text, '\t')) return "a table with tabs";
  if (LooksLikeYaml(text)) return "a YAML file";
  const std::string_view word = Trim(FirstLine(text));
  if (word == "null" || word == "true" || word == "false" || text.starts_with('"') ||
      word.find_first_not_of("0123456789.+-eE") == std::string_view::npos) {
    return "a single JSON value";
  }
  return "text that is no JSON";
}

// What the first bytes say, if they cannot start a JSON document.
std::string NotJson(std::string_view head, const std::filesystem::path& path) {
  for (const auto& [magic, what] : kMagics) {
    if (head.starts_with(magic)) return std::string(what);
  }
  std::string_view start = head;
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  const size_t first = start.find_first_not_of(kBlanks);
  if (first != std::string_view::npos && (start[first] == '{' || start[first] == '[')) return "";
  if (IsText(start)) return TextFile(start);
  return BinaryFile(head, path);
}

bool HasKeys(const DocumentFacts& facts, std::initializer_list<std::string_view> names) {
  return std::all_of(names.begin(), names.end(), [&facts](std::string_view name) {
    return std::find(facts.keys.begin(), facts.keys.end(), name) != facts.keys.end();
  });
}

std::string SomeKeys(const DocumentFacts& facts) {
  constexpr size_t kShown = 4;
  std::vector<std::string> shown;
  for (const std::string& key : facts.keys) {
    if (shown.size() < kShown) shown.push_back(fmt::format("\"{}\"", Printable(key)));
  }
  return Join(shown, ", ") + (facts.keys.size() > kShown ? ", ..." : "");
}

// Documents of perfgate itself, by their schema.
std::string OwnDocument(std::string_view schema) {
  constexpr std::string_view kPrefix = "perfgate.";
  if (!schema.starts_with(kPrefix)) return "";
  schema.remove_prefix(kPrefix.size());
  const std::string_view kind = schema.substr(0, schema.find('/'));
  if (kind == "samples") return "a samples.json of perfgate: the trace lies beside it";
  if (kind == "baseline")
    return "a baseline of perfgate: `perfgate baseline diff` compares with it";
  if (kind == "run") return "a run.json of perfgate: give its folder to `perfgate ingest`";
  return fmt::format("a document of perfgate ({})", Printable(kind));
}

struct KnownKeys {
  std::array<std::string_view, 3> keys;  // empty: none
  std::string_view what;
};

// The first row whose keys are all there decides.
constexpr std::array kDocuments = {
    KnownKeys{{"traceEvents", "viztracer_metadata", ""}, "a trace of VizTracer"},
    KnownKeys{{"traceEvents", "beginningOfTime", ""}, "compile times of Clang (-ftime-trace)"},
    KnownKeys{{"nodes", "timeDeltas", ""}, "a CPU profile of Chrome or Node.js"},
    KnownKeys{{"nodes", "samples", ""}, "a CPU profile of Chrome or Node.js"},
    KnownKeys{{"nodes", "edges", "strings"}, "a heap snapshot of Chrome or Node.js"},
    KnownKeys{{"nodes", "schema", ""}, "an execution trace of PyTorch (Chakra)"},
    KnownKeys{{"nodes", "pid", ""}, "an execution trace of PyTorch (Chakra)"},
    KnownKeys{{"cells", "nbformat", ""}, "a Jupyter notebook"},
    KnownKeys{{"nodes", "", ""},
              "an execution trace or a graph (its key is \"nodes\", not \"traceEvents\")"},
    KnownKeys{{"rocprofiler-sdk-tool", "", ""}, "the JSON of rocprofv3"},
    KnownKeys{{"segments", "device_traces", ""}, "a memory snapshot of PyTorch"},
    KnownKeys{{"profiles", "shared", ""}, "a Speedscope profile"},
    KnownKeys{{"meta", "threads", ""}, "a profile of the Firefox profiler"},
    KnownKeys{{"resourceSpans", "", ""}, "OpenTelemetry spans"},
    KnownKeys{{"pg_config", "entries", ""}, "a flight recorder dump of PyTorch"},
    KnownKeys{{"frame", "metrics", ""}, "a profile of Triton's Proton (Hatchet JSON)"},
    KnownKeys{{"runs", "version", ""}, "a SARIF report"},
    KnownKeys{{"benchmarks", "context", ""}, "results of Google Benchmark"},
    KnownKeys{{"benchmarks", "machine_info", ""}, "results of pytest-benchmark"},
};

std::string KnownDocument(const DocumentFacts& facts) {
  if (std::string own = OwnDocument(facts.schema); !own.empty()) return own;
  if (Contains(facts.schema, "speedscope")) return "a Speedscope profile";
  if (Contains(facts.schema, "chakra")) return "an execution trace of PyTorch (Chakra)";
  for (const KnownKeys& row : kDocuments) {
    const bool all = std::all_of(row.keys.begin(), row.keys.end(), [&facts](std::string_view key) {
      return key.empty() || HasKeys(facts, {key});
    });
    if (all) return std::string(row.what);
  }
  return "";
}

// A list of events of which none is PyTorch's.
std::string ForeignEvents(const DocumentFacts& facts) {
  if (facts.legacy) {
    return "a list of the legacy exporter of PyTorch (without Kineto): its events name neither "
           "category nor launch";
  }
  if (std::string what = KnownDocument(facts); !what.empty()) return what;
  if (facts.rocprof) return "the JSON of rocprof: a Chrome trace without PyTorch's operators";
  if (!facts.other_categories.empty()) {
    std::vector<std::string> shown;
    for (const std::string& category : facts.other_categories) {
      shown.push_back(std::string(Printable(category)));
    }
    return fmt::format("a Chrome trace of another program: no event is PyTorch's (categories: {})",
                       Join(shown, ", "));
  }
  if (facts.without_category > 0) {
    return "a Chrome trace of another program, or of PyTorch's old exporter without Kineto: no "
           "event has a category";
  }
  if (facts.metadata_rows > 0) {
    return "the metadata of one: it names processes and threads and holds no event";
  }
  return "an empty one: its list of events holds nothing";
}

std::string ListDocument(const DocumentFacts& facts, DocumentEnd end) {
  if (facts.lists > 0) return "a list of lists (a memory timeline of torch.profiler?)";
  if (facts.kept > 0) return "";
  if (facts.objects == 0) {
    if (end == DocumentEnd::kBroken) return kAlmostJson;
    if (facts.others > 0) return "a JSON list of plain values";
    return end == DocumentEnd::kCutOff ? "a JSON list that is cut off" : "an empty JSON list";
  }
  if (std::string what = KnownDocument(facts); !what.empty()) return what;
  if (!HasKeys(facts, {"ph"})) {
    return fmt::format("a JSON list of objects that are no events (their keys: {})",
                       SomeKeys(facts));
  }
  return ForeignEvents(facts);
}

// Kineto writes these before its events.
bool StartsLikeKineto(const DocumentFacts& facts) {
  return std::any_of(facts.keys.begin(), facts.keys.end(), [](const std::string& key) {
    return key == "schemaVersion" || key == "deviceProperties" || key == "displayTimeUnit" ||
           key == "baseTimeNanoseconds" || key == "distributedInfo";
  });
}

std::string ObjectDocument(const DocumentFacts& facts, DocumentEnd end) {
  const bool whole = end == DocumentEnd::kWhole || end == DocumentEnd::kAnotherFollows;
  if (facts.has_events_key) {
    if (facts.kept > 0 || facts.of_torch > 0 || !whole) return "";
    if (!facts.events_are_a_list) return "JSON whose \"traceEvents\" is no list of events";
    return ForeignEvents(facts);
  }
  if (std::string what = KnownDocument(facts); !what.empty()) return what;
  if (!whole && StartsLikeKineto(facts)) return "";
  if (end == DocumentEnd::kAnotherFollows) {
    return fmt::format("JSON lines, one document after another (keys of the first: {})",
                       SomeKeys(facts));
  }
  if (facts.keys.empty()) {
    if (end == DocumentEnd::kBroken) return kAlmostJson;
    return whole ? "an empty JSON object" : "a JSON object that is cut off";
  }
  return fmt::format("JSON without the key \"traceEvents\" (its keys: {})", SomeKeys(facts));
}

}  // namespace

std::string Identify(const DocumentFacts& facts, std::string_view head,
                     const std::filesystem::path& path, DocumentEnd end) {
  const bool met = facts.root_is_array || facts.root_is_object;
  if (!met && head.find_first_not_of(kBlanks) == std::string_view::npos) return "an empty file";
  if (!met || facts.keys.empty()) {
    if (std::string what = NotJson(head, path); !what.empty()) return what;
  }
  if (!facts.other_program.empty()) return facts.other_program;
  if (facts.root_is_array) return ListDocument(facts, end);
  return ObjectDocument(facts, end);
}

}  // namespace perfgate
