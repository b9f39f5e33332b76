// Any bytes as perfgate.yaml and as a rule file: read, or refused with the mistakes said.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "declare/declare.h"
#include "invariant.h"

namespace {

// A file in memory under a path, written anew for each input.
class MemoryFile {
 public:
  MemoryFile()
      : file_(memfd_create("perfgate.yaml", 0)), path_("/proc/self/fd/" + std::to_string(file_)) {
    perfgate::Must(file_ >= 0, "there is a file in memory");
  }

  void Write(const uint8_t* data, size_t size) {
    const bool written =
        ftruncate(file_, 0) == 0 && pwrite(file_, data, size, 0) == static_cast<ssize_t>(size);
    perfgate::Must(written, "the file in memory can be written");
  }
  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

template <typename Load>
void LoadOrRefuse(const Load& load) {
  try {
    load();
  } catch (const perfgate::Error& error) {
    perfgate::Must(error.fault() == perfgate::Fault::kConfig, "a mistake is one of configuration");
    perfgate::Must(error.what()[0] != '\0', "a mistake is said");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static MemoryFile file;
  file.Write(data, size);
  LoadOrRefuse([] {
    const perfgate::Suite suite = perfgate::LoadSuite(file.path());
    perfgate::Must(!suite.cases.empty(), "a suite has cases");
  });
  LoadOrRefuse([] {
    for (const perfgate::Rule& rule : perfgate::LoadRules({file.path()}, "/")) {
      perfgate::Must(!rule.id.empty(), "a rule has a name");
    }
  });
  if (size % 8 == 0) perfgate::FilesNamedBy(file.path());
  return 0;
}
