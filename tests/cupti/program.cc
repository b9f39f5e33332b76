// Plays a CUDA program and the driver below it, by a script of one command a word:
//
//   init              the driver starts and loads CUDA_INJECTION64_PATH
//   context           a CUDA context is made
//   push:NAME pop     an NVTX range; start:NAME end, dpush:NAME dpop: of other kinds
//   starved:NAME      a pushed range while there is no memory
//   launch:SYMBOL     cudaLaunchKernel; nested: with cuLaunchKernel inside; driver: cuLaunchKernel
//   unseen:SYMBOL     a kernel that a call launched which CUPTI does not record
//   graph:N           cudaGraphLaunch of N kernels
//   copy:BYTES fill:BYTES sync query overhead:NS
//   capture:N         N launches that become a graph
//   late:MS stuck     launches of kernels that end in MS milliseconds, never
//   threads:N         N threads, 1000 launches each
//   reset drop:N steal keep hoard refuse:RESULT sleep:MS
//   flushes reads     says how often CUPTI was flushed, how many records were read so far
//   hears             says how many calls of an API the subscriber hears of, -1 if there is none
//   repeat:N … again  what stands between them, N times
//   fork … join       what stands between them in a child; its exit code must be 0
//   exit:N _exit:N term kill exec:SCRIPT
//   execv:FILE execvp:FILE    says why if it returns
//   hammer            a thread starts and ends ranges from now on
//   handler:N         a signal interrupts malloc, and its handler calls _exit(N)
//   held:N            _exit(N) while another thread is inside CUPTI for good
#include <cuda.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "fake_cupti.h"

namespace {

using Words = std::vector<std::string>;

constexpr int64_t kNs = 2000;
constexpr CUpti_CallbackId kLaunch = 211, kGraphLaunch = 311, kCopy = 41, kFill = 51, kSync = 165,
                           kReset = 164, kQuery = 17, kDriverLaunch = 307, kUnrecorded = 304,
                           kBeginCapture = 315, kEndCapture = 319;

// What a driver does in cuInit.
void Init() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  if (library == nullptr) return;
  const auto start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (start == nullptr || start() == 0) std::fprintf(stderr, "the injection refused\n");
}

// As the driver knows it, and CUPTI's subscriber.
void MakeContext() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver != nullptr) reinterpret_cast<void (*)()>(dlsym(driver, "FakePrimaryContext"))();
  FakeContext();
}

thread_local bool inside_malloc = false, starved = false;

void PushStarved(const char* name) {
  starved = true;
  nvtxRangePushA(name);
  starved = false;
}

void EndInHandler(int code) {
  static int exit_code = 0;
  exit_code = code;
  std::signal(SIGUSR1, [](int) { _exit(exit_code); });
  inside_malloc = true;
  std::raise(SIGUSR1);
}

void EndWhileHeld(int code) {
  std::thread([] { FakeHold(); }).detach();
  usleep(100'000);
  _exit(code);
}

void Kernel(uint32_t correlation, const std::string& symbol) {
  // CUPTI keeps symbols as long as their module: for good, here.
  static auto* symbols = new std::map<std::string, const char*>;
  const char*& kept = (*symbols)[symbol];
  if (kept == nullptr) kept = strdup(symbol.c_str());
  FakeKernel(correlation, kept, kNs, 0, 0);
}

void Threads(int count) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 1000; ++n) {
        FakeKernel(FakeCall(false, kLaunch, 0, 0), "threaded", kNs, 0, 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

nvtxDomainHandle_t Domain() {
  static nvtxDomainHandle_t domain = nvtxDomainCreateA("model");
  return domain;
}

void DomainPush(const std::string& name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(Domain(), name.c_str());
  nvtxDomainRangePushEx(Domain(), &event);
}

// Ranges that a thread starts and ends without a pause.
void Hammer() {
  std::thread([] {
    while (true) nvtxRangeEnd(nvtxRangeStartA("step"));
  }).detach();
}

void ExecFile(const std::string& path, auto exec) {
  const char* const arguments[] = {path.c_str(), nullptr};
  exec(path.c_str(), const_cast<char* const*>(arguments));
  std::printf("exec: %s\n", std::strerror(errno));
  std::fflush(stdout);
}

void Exec(const std::string& script) {
  const char* const arguments[] = {"program", script.c_str(), nullptr};
  execv("/proc/self/exe", const_cast<char* const*>(arguments));
}

void Graph(int kernels) {
  const uint32_t correlation = FakeCall(false, kGraphLaunch, kNs, 0);
  for (int i = 1; i <= kernels; ++i) {
    FakeKernel(correlation, "node", kNs, 0, static_cast<uint32_t>(i));
  }
}

void Capture(int launches) {
  FakeCall(false, kBeginCapture, 0, 0);
  for (int i = 0; i < launches; ++i) FakeCall(false, kLaunch, 0, 0);
  FakeCall(false, kEndCapture, 0, 0);
}

const std::map<std::string, std::function<void(const std::string&)>>& Commands() {
  using Text = const std::string&;
  static nvtxRangeId_t started = 0;
  static const std::map<std::string, std::function<void(Text)>> commands = {
      {"init", [](Text) { Init(); }},
      {"context", [](Text) { MakeContext(); }},
      {"push", [](Text name) { nvtxRangePushA(name.c_str()); }},
      {"starved", [](Text name) { PushStarved(name.c_str()); }},
      {"pop", [](Text) { nvtxRangePop(); }},
      {"start", [](Text name) { started = nvtxRangeStartA(name.c_str()); }},
      {"end", [](Text) { nvtxRangeEnd(started); }},
      {"dpush", [](Text name) { DomainPush(name); }},
      {"dpop", [](Text) { nvtxDomainRangePop(Domain()); }},
      {"launch", [](Text name) { Kernel(FakeCall(false, kLaunch, kNs, 0), name); }},
      {"nested", [](Text name) { Kernel(FakeCall(false, kLaunch, kNs, kDriverLaunch), name); }},
      {"driver", [](Text name) { Kernel(FakeCall(true, kDriverLaunch, kNs, 0), name); }},
      {"unseen", [](Text name) { Kernel(FakeCall(true, kUnrecorded, 0, 0), name); }},
      {"graph", [](Text count) { Graph(std::stoi(count)); }},
      {"capture", [](Text count) { Capture(std::stoi(count)); }},
      {"copy", [](Text n) { FakeCopy(FakeCall(false, kCopy, kNs, 0), std::stoull(n), kNs); }},
      {"fill", [](Text n) { FakeFill(FakeCall(false, kFill, kNs, 0), std::stoull(n), kNs); }},
      {"sync", [](Text) { FakeCall(false, kSync, kNs, 17); }},
      {"query", [](Text) { FakeCall(false, kQuery, 0, 304); }},
      {"overhead", [](Text ns) { FakeOverhead(std::stoll(ns)); }},
      {"late",
       [](Text ms) { FakeKernel(FakeCall(false, kLaunch, 0, 0), "late", kNs, std::stoi(ms), 0); }},
      {"stuck", [](Text) { FakeKernel(FakeCall(false, kLaunch, 0, 0), "stuck", kNs, -1, 0); }},
      {"threads", [](Text count) { Threads(std::stoi(count)); }},
      {"reset", [](Text) { FakeCall(false, kReset, kNs, 0); }},
      {"drop", [](Text count) { FakeDrop(std::stoi(count)); }},
      {"keep", [](Text) { FakeKeep(); }},
      {"hoard", [](Text) { FakeHoard(); }},
      {"flushes", [](Text) { std::printf("flushes %d\n", FakeFlushes()), std::fflush(stdout); }},
      {"reads", [](Text) { std::printf("reads %d\n", FakeReads()), std::fflush(stdout); }},
      {"hears", [](Text) { std::printf("hears %d\n", FakeApiCallbacks()), std::fflush(stdout); }},
      {"steal", [](Text) { FakeSteal(); }},
      {"refuse", [](Text result) { FakeRefuse(static_cast<CUptiResult>(std::stoi(result))); }},
      {"sleep", [](Text ms) { usleep(static_cast<useconds_t>(std::stoi(ms)) * 1000); }},
      {"exit", [](Text code) { std::exit(std::stoi(code)); }},
      {"_exit", [](Text code) { _exit(std::stoi(code)); }},
      {"term", [](Text) { kill(getpid(), SIGTERM), pause(), pause(); }},
      {"kill", [](Text) { kill(getpid(), SIGKILL); }},
      {"handler", [](Text code) { EndInHandler(std::stoi(code)); }},
      {"held", [](Text code) { EndWhileHeld(std::stoi(code)); }},
      {"exec", Exec},
      {"execv", [](Text path) { ExecFile(path, execv); }},
      {"execvp", [](Text path) { ExecFile(path, execvp); }},
      {"hammer", [](Text) { Hammer(); }},
  };
  return commands;
}

// The place of the word that ends the block which begins at `at`.
size_t EndOf(const Words& words, size_t at, const std::string& end) {
  while (at < words.size() && words[at] != end) ++at;
  return at;
}

void Run(const Words& words, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) {
    const std::string name = words[i].substr(0, words[i].find(':'));
    const std::string value =
        name.size() == words[i].size() ? "" : words[i].substr(name.size() + 1);
    if (name == "repeat") {
      const size_t end = EndOf(words, i, "again");
      for (int n = std::stoi(value); n > 0; --n) Run(words, i + 1, end);
      i = end;
    } else if (name == "fork") {
      const size_t end = EndOf(words, i, "join");
      const pid_t child = fork();
      if (child == 0) {
        Run(words, i + 1, end);
        std::exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) std::fprintf(stderr, "the child ended with %d\n", status);
      i = end;
    } else {
      Commands().at(name)(value);
    }
  }
}

}  // namespace

// Its lock is not recursive: a handler that interrupted it waits for good.
extern "C" void* __libc_malloc(size_t bytes);
extern "C" __attribute__((visibility("default"))) void* malloc(size_t bytes) {
  while (inside_malloc) pause();
  return starved ? nullptr : __libc_malloc(bytes);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  // The GPUs that the process sees, if a test gives it a driver.
  if (const char* driver = std::getenv("FAKE_CUDA")) dlopen(driver, RTLD_NOW);
  std::istringstream script(argv[1]);
  Words words;
  for (std::string word; script >> word;) words.push_back(word);
  Run(words, 0, words.size());
  return 0;
}
