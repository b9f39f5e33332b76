#include "cupti/ranges.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "cupti/collector.h"
#include "cupti/process.h"

namespace perfgate::cupti {
namespace {

// A string that a program registered. Never freed: handles have no owner.
struct Registered {
  std::string text;
};

std::string Narrow(const wchar_t* wide) {
  std::string text;
  for (; *wide != L'\0'; ++wide) {
    const auto code = static_cast<uint32_t>(*wide);
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xc0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      text += static_cast<char>(0xe0 | code >> 12);
      text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      text += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      text += static_cast<char>(0xf0 | (code >> 18 & 7));
      text += static_cast<char>(0x80 | (code >> 12 & 0x3f));
      text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      text += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return text;
}

// The message of an event as UTF-8; "" if it has none.
class Message {
 public:
  explicit Message(const char* text) : text_(text == nullptr ? "" : text) {}
  explicit Message(const wchar_t* text) : copy_(text == nullptr ? "" : Narrow(text)) {
    text_ = copy_.c_str();
  }
  explicit Message(const nvtxEventAttributes_t* event) : text_("") {
    if (event == nullptr) return;
    if (event->messageType == NVTX_MESSAGE_TYPE_ASCII && event->message.ascii != nullptr) {
      text_ = event->message.ascii;
    } else if (event->messageType == NVTX_MESSAGE_TYPE_UNICODE &&
               event->message.unicode != nullptr) {
      copy_ = Narrow(event->message.unicode);
      text_ = copy_.c_str();
    } else if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED &&
               event->message.registered != nullptr) {
      text_ = reinterpret_cast<const Registered*>(event->message.registered)->text.c_str();
    }
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  const char* text() const { return text_; }

 private:
  std::string copy_;
  const char* text_;
};

// Pushed ranges of one thread, of all domains. Plain data: threads end without a word.
struct Stack {
  static constexpr int kMost = 128;  // deeper ones are counted, not heard
  struct Entry {
    const void* domain;
    OpenRange range;
  };
  Entry entries[kMost];
  int depth;
};
thread_local Stack stack;

// Without memory a range is not recorded.
auto UnlessNoMemory(auto action) noexcept -> decltype(action()) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return decltype(action())();
  }
}

OpenRange Begin(auto message) noexcept {
  return UnlessNoMemory([message] {
    Collector* collector = ProcessCollector();
    return collector == nullptr ? OpenRange{} : collector->BeginRange(Message(message).text());
  });
}

void Finish(const OpenRange& range) noexcept {
  UnlessNoMemory([&range] {
    if (Collector* collector = ProcessCollector()) collector->EndRange(range);
  });
}

int Push(const void* domain, auto message) noexcept {
  const int depth = stack.depth++;
  if (depth < Stack::kMost) stack.entries[depth] = {domain, Begin(message)};
  return depth;
}

int Pop(const void* domain) {
  if (stack.depth == 0) return NVTX_NO_PUSH_POP_TRACKING;
  if (stack.depth > Stack::kMost) return --stack.depth;
  int at = stack.depth - 1;
  while (at >= 0 && stack.entries[at].domain != domain) --at;
  if (at < 0) return NVTX_NO_PUSH_POP_TRACKING;
  const OpenRange range = stack.entries[at].range;
  --stack.depth;
  for (; at < stack.depth; ++at) stack.entries[at] = stack.entries[at + 1];
  Finish(range);
  return stack.depth;
}

// Ranges that any thread may end.
struct Started {
  std::mutex mutex;  // nothing else is called under it
  std::map<nvtxRangeId_t, OpenRange> ranges;
};
std::atomic<nvtxRangeId_t> last_started{0};

// A forked child has its own: another thread of the parent may have held the lock.
std::atomic<Started*>& StartedRanges() {
  alignas(
      Started) static std::byte first[sizeof(Started)];  // there from the start, and never freed
  static std::atomic<Started*> started{new (first) Started};
  static const int kHandler =
      ::pthread_atfork(nullptr, nullptr, [] { started.store(new (std::nothrow) Started); });
  static_cast<void>(kHandler);
  return started;
}

nvtxRangeId_t Start(auto message) noexcept {
  const OpenRange range = Begin(message);
  return UnlessNoMemory([&range] {
    const nvtxRangeId_t id = ++last_started;
    Started* started = StartedRanges().load();
    if (started == nullptr || (!range.counted && range.start_ns == 0)) return id;
    const std::lock_guard lock(started->mutex);
    started->ranges.emplace(id, range);
    return id;
  });
}

void End(nvtxRangeId_t id) {
  Started* started = StartedRanges().load();
  if (started == nullptr) return;
  OpenRange range;
  {
    const std::lock_guard lock(started->mutex);
    const auto found = started->ranges.find(id);
    if (found == started->ranges.end()) return;
    range = found->second;
    started->ranges.erase(found);
  }
  Finish(range);
}

nvtxStringHandle_t Register(auto message) noexcept {
  return UnlessNoMemory([message] {
    return reinterpret_cast<nvtxStringHandle_t>(new Registered{Message(message).text()});
  });
}

// NVTX's functions. Nothing may leave them.
int PushA(const char* text) noexcept { return Push(nullptr, text); }
int PushW(const wchar_t* text) noexcept { return Push(nullptr, text); }
int PushEx(const nvtxEventAttributes_t* event) noexcept { return Push(nullptr, event); }
int PopDefault() noexcept { return Pop(nullptr); }
nvtxRangeId_t StartA(const char* text) noexcept { return Start(text); }
nvtxRangeId_t StartW(const wchar_t* text) noexcept { return Start(text); }
nvtxRangeId_t StartEx(const nvtxEventAttributes_t* event) noexcept { return Start(event); }
void EndDefault(nvtxRangeId_t id) noexcept { End(id); }
int DomainPush(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) noexcept {
  return Push(domain, event);
}
int DomainPop(nvtxDomainHandle_t domain) noexcept { return Pop(domain); }
nvtxRangeId_t DomainStart(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) noexcept {
  return Start(event);
}
void DomainEnd(nvtxDomainHandle_t, nvtxRangeId_t id) noexcept { End(id); }
nvtxStringHandle_t RegisterA(nvtxDomainHandle_t, const char* text) noexcept {
  return Register(text);
}
nvtxStringHandle_t RegisterW(nvtxDomainHandle_t, const wchar_t* text) noexcept {
  return Register(text);
}
// A handle is only told apart from others.
nvtxDomainHandle_t CreateA(const char*) noexcept {
  return reinterpret_cast<nvtxDomainHandle_t>(new (std::nothrow) Registered);
}
nvtxDomainHandle_t CreateW(const wchar_t*) noexcept { return CreateA(nullptr); }

struct Hook {
  int id;
  NvtxFunctionPointer function;
};

template <typename Function>
Hook For(int id, Function* function) {
  return {id, reinterpret_cast<NvtxFunctionPointer>(function)};
}

template <size_t kCount>
bool Fill(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
          const std::array<Hook, kCount>& hooks) {
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr)
    return false;
  for (const Hook& hook : hooks) {
    if (static_cast<unsigned int>(hook.id) < size) *table[hook.id] = hook.function;
  }
  return true;
}

}  // namespace

int HookNvtx(NvtxGetExportTableFunc_t get_export_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return 0;
  StartedRanges();
  const std::array core = {
      For(NVTX_CBID_CORE_RangePushA, PushA),     For(NVTX_CBID_CORE_RangePushW, PushW),
      For(NVTX_CBID_CORE_RangePushEx, PushEx),   For(NVTX_CBID_CORE_RangePop, PopDefault),
      For(NVTX_CBID_CORE_RangeStartA, StartA),   For(NVTX_CBID_CORE_RangeStartW, StartW),
      For(NVTX_CBID_CORE_RangeStartEx, StartEx), For(NVTX_CBID_CORE_RangeEnd, EndDefault),
  };
  const std::array core2 = {
      For(NVTX_CBID_CORE2_DomainRangePushEx, DomainPush),
      For(NVTX_CBID_CORE2_DomainRangePop, DomainPop),
      For(NVTX_CBID_CORE2_DomainRangeStartEx, DomainStart),
      For(NVTX_CBID_CORE2_DomainRangeEnd, DomainEnd),
      For(NVTX_CBID_CORE2_DomainRegisterStringA, RegisterA),
      For(NVTX_CBID_CORE2_DomainRegisterStringW, RegisterW),
      For(NVTX_CBID_CORE2_DomainCreateA, CreateA),
      For(NVTX_CBID_CORE2_DomainCreateW, CreateW),
  };
  const bool hooked = Fill(*callbacks, NVTX_CB_MODULE_CORE, core);
  Fill(*callbacks, NVTX_CB_MODULE_CORE2, core2);
  return hooked ? 1 : 0;
}

}  // namespace perfgate::cupti
