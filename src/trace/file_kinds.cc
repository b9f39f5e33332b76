#include "trace/file_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "trace/bytes.h"

namespace perfgate {
namespace {

using Name = std::pair<std::string_view, std::string_view>;
using namespace std::string_view_literals;

constexpr std::string_view kPickle =
    "a Python pickle (a memory snapshot of PyTorch, or a checkpoint?)";
constexpr std::string_view kFailedDownload = "the answer of a download that failed";

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
    Name{"\xCA\xFE\xBA\xBE", "a macOS program or a Java class"},
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
    Name{"7z\xBC\xAF", "a 7z archive: unpack it first"},
    Name{"Rar!", "a RAR archive: unpack it first"},
    Name{"\x80\x02", kPickle},
    Name{"\x80\x03", kPickle},
    Name{"\x80\x04", kPickle},
    Name{"\x80\x05", kPickle},
    Name{"}q\0"sv, kPickle},
    Name{"]q\0"sv, kPickle},
    Name{"\x93NUMPY", "a NumPy array (.npy)"},
    Name{"\x89HDF", "an HDF5 file"},
    Name{"PAR1", "a Parquet file"},
    Name{"ARROW1", "an Arrow file"},
    Name{"GGUF", "model weights (GGUF)"},
    Name{"BC\xC0\xDE", "LLVM bitcode"},
    Name{"\0asm"sv, "WebAssembly"},
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
    Name{".etl", "a log of Event Tracing for Windows (.etl)"},
    Name{".ncu-repz", "an Nsight Compute report (.ncu-repz)"},
    Name{".engine", "a TensorRT engine"},
    Name{".plan", "a TensorRT engine"},
    Name{".rpd", "an RPD database of ROCm"},
};

// Starts of text files.
constexpr std::array kTexts = {
    Name{"version https://git-lfs", "a Git LFS pointer: the file itself was not fetched"},
    Name{"/annex/objects/", "a git-annex pointer: the file itself was not fetched"},
    Name{"#!", "a script"},
    Name{"%YAML", "a YAML file"},
    Name{"---\n", "a YAML file"},
    Name{"Traceback (most recent call last)", "the text of a Python error"},
    Name{"==PROF==", "the output of Nsight Compute"},
    Name{"# tracer:", "an ftrace log"},
    Name{"(dp0\n", kPickle},
    Name{"(lp0\n", kPickle},
    Name{"404: Not Found", kFailedDownload},
    Name{"Not Found", kFailedDownload},
    Name{"Entry not found", kFailedDownload},
    Name{"Invalid username or password", kFailedDownload},
    Name{"HTTP/1.", kFailedDownload},
    Name{"curl: (", kFailedDownload},
};

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// False of a text that ends before that.
bool StandsAt(size_t at, std::string_view part, std::string_view text) {
  return text.size() >= at && text.substr(at).starts_with(part);
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

// Form feeds and escapes for colours are met in logs.
bool IsText(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](unsigned char byte) {
    return (byte >= 0x20 && byte != 0x7F) || (byte >= '\t' && byte <= '\r') || byte == '\x1B';
  });
}

// Half of the bytes of Latin text in UTF-16 are zero, three quarters of UTF-32's.
std::string WideText(std::string_view head) {
  constexpr size_t kLooked = 16;
  if (head.starts_with("\xFF\xFE\0\0"sv) || head.starts_with("\0\0\xFE\xFF"sv)) {
    return "UTF-32 text: save it as UTF-8";
  }
  const std::string_view start = head.substr(0, kLooked);
  int zeros[2] = {0, 0};
  for (size_t at = 0; at < start.size(); ++at) zeros[at % 2] += start[at] == '\0';
  const bool wide = start.size() == kLooked && zeros[0] + zeros[1] == kLooked / 2 &&
                    (zeros[0] == 0 || zeros[1] == 0);
  if (wide || head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) {
    return "UTF-16 text: save it as UTF-8";
  }
  return "";
}

std::string ByExtension(const std::filesystem::path& path) {
  std::filesystem::path name = path.filename();
  if (name.extension() == ".gz") name = name.stem();
  for (const auto& [extension, what] : kExtensions) {
    if (name.extension() == extension) return std::string(what);
  }
  return "";
}

std::string ZipFile(std::string_view head) {
  if (Holds(head, "archive_format") || Holds(head, "serialized_exported_program")) {
    return "a model that PyTorch exported (.pt2)";
  }
  if (Holds(head, "data.pkl")) return "a PyTorch file (a model or checkpoint, .pt)";
  if (Holds(head, ".npy")) return "NumPy arrays (.npz)";
  return "a zip archive: unpack it first";
}

// Protobufs of which field 1 comes first: a number (ONNX), or a message (the planes of XLA's
// profiles, the sample types of pprof, Perfetto's packets).
std::string Protobuf(std::string_view head) {
  if (head.starts_with("\x08") && StandsAt(2, "\x12", head)) return "an ONNX model";
  if (!head.starts_with('\n')) return "";
  if (Holds(head, "/host:") || Holds(head, "/device:")) {
    return "a profile of XLA (protobuf, .xplane.pb)";
  }
  if (StandsAt(1, "\x04\x08", head) && StandsAt(4, "\x10", head)) {
    return "a profile of pprof";
  }
  return "a Perfetto protobuf trace (.pftrace)";
}

std::string BinaryFile(std::string_view head, const std::filesystem::path& path) {
  if (std::string what = ByExtension(path); !what.empty()) return what;
  if (head.find_first_not_of('\0') == std::string_view::npos) {
    return "a file of zero bytes (a write that never reached the disk?)";
  }
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return ZipFile(head);
  if (head.starts_with('\x78') && head.size() > 1 &&
      (0x7800 + static_cast<unsigned char>(head[1])) % 31 == 0) {
    return "a zlib stream: decompress it first";
  }
  if (StandsAt(257, "ustar", head)) return "a tar archive: unpack it first";
  if (StandsAt(8, "DUCK", head)) return "a DuckDB database";
  if (Holds(head, "brain.Event:")) return "an event file of TensorBoard";
  if (StandsAt(2, "\0\0\0\0\0\0{"sv, head)) {
    return "model weights (safetensors)";
  }
  if (std::string what = Protobuf(head); !what.empty()) return what;
  return "binary data";
}

size_t Count(std::string_view text, char byte) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), byte));
}

// A first line of names parted by `separator`, and a second one with as many parts.
bool IsTable(std::string_view head, char separator) {
  const std::string_view first = FirstLine(head);
  if (first.find_first_of("{}=") != std::string_view::npos) return false;
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
  return Holds(line.substr(0, blank), ";") &&
         line.find_first_not_of("0123456789", blank + 1) == std::string_view::npos;
}

// Elements of HTML are written in capitals or not.
std::string Markup(std::string_view text) {
  std::string lower(text.substr(0, 256));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (Holds(lower, "<svg")) return "an SVG image";
  if (Holds(lower, "<error>")) return std::string(kFailedDownload);
  if (Holds(lower, "html") || Holds(lower, "<head") || Holds(lower, "<body")) {
    return "an HTML page (an error page of a download?)";
  }
  return "an XML document";
}

std::string TextFile(std::string_view text) {
  for (const auto& [start, what] : kTexts) {
    if (text.starts_with(start)) return std::string(what);
  }
  if (text.size() > 1 && text[0] == '<' &&
      (std::isalpha(static_cast<unsigned char>(text[1])) != 0 || text[1] == '!' ||
       text[1] == '?')) {
    return Markup(text);
  }
  if (Holds(text, "Self CPU")) return "the printed table of key_averages()";
  if (Holds(text, "KernelName") && IsTable(text, ',')) return "a CSV table of rocprof";
  if (LooksLikeFoldedStacks(FirstLine(text))) return "folded stacks (export_stacks)";
  if (IsTable(text, ',')) return "a CSV table";
  if (IsTable(text, '\t')) return "a table with tabs";
  if (text.starts_with('"')) return "a single JSON value";
  if (LooksLikeYaml(text)) return "a YAML file";
  const std::string_view word = Trim(FirstLine(text));
  if (word == "null" || word == "true" || word == "false" ||
      word.find_first_not_of("0123456789.+-eE") == std::string_view::npos) {
    return "a single JSON value";
  }
  return "text that is no JSON";
}

}  // namespace

std::string KindOfFile(std::string_view head, const std::filesystem::path& path) {
  for (const auto& [magic, what] : kMagics) {
    if (head.starts_with(magic)) return std::string(what);
  }
  std::string_view start = head;
  if (start.starts_with(kByteOrderMark)) start.remove_prefix(kByteOrderMark.size());
  const std::string_view text = WithoutBlanksBefore(start);
  if (text.empty()) return "an empty file";
  if (!IsText(start)) {
    if (std::string what = WideText(head); !what.empty()) return what;
  }
  if (text.starts_with('{') || text.starts_with('[')) return "";
  return IsText(start) ? TextFile(text) : BinaryFile(head, path);
}

}  // namespace perfgate
