// The library's border: what the CUDA driver, NVTX and the program's end call. No exception leaves.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cupti/collector.h"
#include "cupti/process.h"
#include "cupti/ranges.h"

#define PERFGATE_EXPORT extern "C" __attribute__((visibility("default")))

namespace perfgate::cupti {
namespace {

void FinishFile() noexcept {
  if (Collector* collector = ExistingCollector()) collector->Finish();
}

// Most likely an exec of it does not return.
bool Starts(const char* path) noexcept {
  struct stat file {};
  return ::stat(path, &file) == 0 && S_ISREG(file.st_mode) && ::access(path, X_OK) == 0;
}

// The same for a name that is looked for along PATH.
bool StartsFromPath(const char* name) noexcept {
  const char* folders = std::getenv("PATH");
  if (std::strchr(name, '/') != nullptr || folders == nullptr) return Starts(name);
  while (true) {
    const auto length = static_cast<int>(std::strcspn(folders, ":"));
    char path[PATH_MAX];
    const int written = std::snprintf(path, sizeof path, "%.*s/%s", length, folders, name);
    if (written < static_cast<int>(sizeof path) && Starts(path)) return true;
    if (folders[length] == '\0') return false;
    folders += length + 1;
  }
}

// Calls `exec`, which returns only if it failed: then the program, and its window, go on.
int EndAround(bool starts, auto exec) noexcept {
  Collector* collector = starts ? ExistingCollector() : nullptr;
  const bool ended = collector != nullptr && collector->Finish();
  const int result = exec();
  const int error = errno;
  if (ended) collector->SayEndedTooEarly();
  errno = error;
  return result;
}

[[noreturn]] void EndNow(int status) {
  FinishFile();
  while (true) ::syscall(SYS_exit_group, status);
}

// The system's own call: a child of vfork must not look for a function.
int ReplaceProcess(const char* path, char* const arguments[], char* const environment[]) {
  return EndAround(Starts(path), [&] {
    return static_cast<int>(::syscall(SYS_execve, path, arguments, environment));
  });
}

}  // namespace
}  // namespace perfgate::cupti

// By the CUDA driver as it starts. It unloads a library that returns 0.
PERFGATE_EXPORT int InitializeInjection() {
  try {
    static std::atomic<pid_t> attached_pid{0};
    if (attached_pid.exchange(::getpid()) == ::getpid()) return 1;
    perfgate::cupti::Collector* collector = perfgate::cupti::ProcessCollector();
    if (collector == nullptr) return 1;
    collector->Attach();
    std::atexit(perfgate::cupti::FinishFile);
  } catch (...) {
  }
  return 1;
}

PERFGATE_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  try {
    return perfgate::cupti::HookNvtx(get_export_table);
  } catch (...) {
    return 0;
  }
}

// Where the library is preloaded, these come before the C library's: ends of a process that run no
// exit handlers.
PERFGATE_EXPORT void _exit(int status) { perfgate::cupti::EndNow(status); }
PERFGATE_EXPORT void _Exit(int status) { perfgate::cupti::EndNow(status); }

PERFGATE_EXPORT int execv(const char* path, char* const arguments[]) {
  return perfgate::cupti::ReplaceProcess(path, arguments, environ);
}
PERFGATE_EXPORT int execve(const char* path, char* const arguments[], char* const environment[]) {
  return perfgate::cupti::ReplaceProcess(path, arguments, environment);
}
PERFGATE_EXPORT int execvp(const char* file, char* const arguments[]) {
  return perfgate::cupti::EndAround(perfgate::cupti::StartsFromPath(file),
                                    [&] { return ::execvpe(file, arguments, environ); });
}
