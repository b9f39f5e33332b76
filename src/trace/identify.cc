#include "trace/identify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/text.h"
#include "trace/bytes.h"
#include "trace/file_kinds.h"

namespace perfgate {
namespace {

constexpr const char* kAlmostJson = "text that starts like JSON but is none";

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
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
    KnownKeys{{"traceEvents", "systemTraceEvents", ""}, "a system trace of Android or Chrome"},
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
    KnownKeys{{"address", "total_size", "blocks"}, "a memory snapshot of PyTorch"},
    KnownKeys{{"message", "documentation_url", ""},
              "an error of GitHub's API: nothing was fetched"},
    KnownKeys{{"sha", "content", "encoding"},
              "what GitHub's API says of a file: fetch its \"download_url\""},
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
  if (facts.xla) {
    return "a trace of JAX (XLA's profiler), which ties no kernel to its launch: measure the "
           "program "
           "itself with `profiler: cupti`";
  }
  if (facts.ascend) return "a profile of an Ascend accelerator (NPU) without PyTorch's operators";
  if (facts.rocprof) return "the JSON of rocprof: a Chrome trace without PyTorch's operators";
  if (!facts.other_categories.empty() && facts.other_categories[0] == "dynamo_timed") {
    return "compile times of torch.compile (a chromium_events.json of tlparse)";
  }
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
  if (facts.objects > 0) return "one without events: its list holds only arrows between them";
  if (facts.others > 0) return "JSON whose \"traceEvents\" holds plain values";
  return "an empty one: its list of events holds nothing";
}

std::string ListDocument(const DocumentFacts& facts, DocumentEnd end) {
  if (facts.halves > 0) return "";
  if (facts.lists > 0) return "a list of lists (a memory timeline of torch.profiler?)";
  if (facts.objects == 0) {
    if (end == DocumentEnd::kBroken) return kAlmostJson;
    if (facts.others > 0) return "a JSON list of plain values";
    return end == DocumentEnd::kCutOff ? "a JSON list that is cut off" : "an empty JSON list";
  }
  if (HasKeys(facts, {"traceEvents"})) return "a list of traces: give each a file of its own";
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
  if (facts.events_keys > 0) {
    if (facts.of_torch > 0 || facts.halves > 0 || !whole) return "";
    if (!facts.events_are_a_list || facts.lists > 0) {
      return "JSON whose \"traceEvents\" is no list of events";
    }
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
  if (facts.kept_of_kineto > 0) return "";
  if (!facts.other_program.empty()) return facts.other_program;
  if (facts.kept > 0) return "";
  const bool met = facts.root_is_array || facts.root_is_object;
  if (!met || facts.keys.empty()) {
    if (std::string what = KindOfFile(head, path); !what.empty()) return what;
  }
  if (facts.root_is_array) return ListDocument(facts, end);
  return ObjectDocument(facts, end);
}

}  // namespace perfgate
