// Tells what a file is that is no trace of PyTorch, so that nobody has to guess.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate {

// What the reader met of a document.
struct DocumentFacts {
  static constexpr size_t kMostKeys = 24;
  static constexpr size_t kMostCategories = 4;

  bool root_is_array = false, root_is_object = false;
  int64_t events_keys = 0;  // how often the key "traceEvents" stands at the top
  bool events_are_a_list = false;
  bool events_ended = false;  // the list of events was closed
  bool rocprof = false;       // events carry rocprof's own times
  bool xla = false;           // processes are called as XLA's profiler calls them
  bool ascend = false;        // events are tasks of an Ascend accelerator
  bool legacy = false;  // processes are called as PyTorch's exporter before Kineto called them
  // Whose profile it is although some of its events are called as PyTorch called them in 2020.
  std::string other_program;
  // Of the top-level object, or of the first object of a top-level list.
  std::vector<std::string> keys;
  std::string schema;                               // value of "schema" or "$schema"
  int64_t lists = 0, objects = 0, others = 0;       // items of the list of events
  int64_t kept = 0;                                 // events that are evidence
  int64_t kept_of_kineto = 0;                       // of these, called as no other program does
  int64_t of_torch = 0;                             // others that torch.profiler writes
  int64_t halves = 0;                               // the begin or the end of what would be kept
  int64_t metadata_rows = 0, without_category = 0;  // the rest, by what they are
  std::vector<std::string> other_categories;        // of the rest, the first few
};

// How many bytes of the start of a file Identify() looks at.
inline constexpr size_t kIdentifyBytes = 1024;

// How the reading of a document came to its end.
enum class DocumentEnd : uint8_t { kWhole, kCutOff, kBroken, kAnotherFollows };

// What the file is: "a PNG image". Empty: a trace, or what can only be one that is cut off. What
// holds events of Kineto's is a trace, whatever stands around them.
// `head` is the start of the decompressed data.
std::string Identify(const DocumentFacts& facts, std::string_view head,
                     const std::filesystem::path& path, DocumentEnd end);

}  // namespace perfgate
