#include "cupti/process.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "cupti/collector.h"

namespace perfgate::cupti {
namespace {

// Leaked: threads and callbacks may come after all else is gone.
std::atomic<Collector*> collector{nullptr};
std::atomic<pid_t> owner{0};
std::atomic<bool> silenced{false};

// What a parent had begun is the parent's. The child has none of its threads, and may find its
// locks held; if CUDA was not in use there, it starts anew.
void AfterForkInChild() {
  Collector* parents = collector.exchange(nullptr);
  if (parents != nullptr && parents->attached()) silenced.store(true);
}

Collector* Make() {
  static const int kHandlers = ::pthread_atfork(nullptr, nullptr, AfterForkInChild);
  auto* made = new Collector(ReadConfig());
  Collector* found = nullptr;
  owner.store(::getpid());
  if (collector.compare_exchange_strong(found, made)) return made;
  static_cast<void>(kHandlers);
  return found;  // another thread was first; the one made here is leaked
}

}  // namespace

Collector* ProcessCollector() {
  if (silenced.load()) return nullptr;
  Collector* existing = collector.load();
  return existing != nullptr ? existing : Make();
}

// After vfork the child shares the parent's memory, and is told apart by its number alone.
Collector* ExistingCollector() { return owner.load() == ::getpid() ? collector.load() : nullptr; }

}  // namespace perfgate::cupti
