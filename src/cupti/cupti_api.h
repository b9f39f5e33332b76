// CUPTI, opened at run time: the program's own copy if it has one, since two copies would compete
// for the one subscriber that the driver allows.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>
#include <vector>

namespace perfgate::cupti {

// Functions that a CUPTI of CUDA 12 or newer has; those of `optional` may be null.
struct CuptiApi {
#define PERFGATE_CUPTI_FUNCTIONS(required, optional)                                     \
  required(cuptiGetVersion) required(cuptiGetTimestamp) required(cuptiGetResultString)   \
      required(cuptiGetCallbackName) required(cuptiSubscribe) required(cuptiUnsubscribe) \
          required(cuptiEnableCallback) required(cuptiSetThreadIdType)                   \
              required(cuptiActivityRegisterCallbacks) required(cuptiActivityEnable)     \
                  required(cuptiActivityDisable) required(cuptiActivityFlushAll)         \
                      required(cuptiActivityGetNextRecord)                               \
                          required(cuptiActivityGetNumDroppedRecords)                    \
                              required(cuptiActivitySetAttribute)                        \
                                  optional(cuptiActivityEnableRuntimeApi)                \
                                      optional(cuptiActivityEnableDriverApi)
#define PERFGATE_CUPTI_MEMBER(name) decltype(&::name) name = nullptr;
  PERFGATE_CUPTI_FUNCTIONS(PERFGATE_CUPTI_MEMBER, PERFGATE_CUPTI_MEMBER)
#undef PERFGATE_CUPTI_MEMBER

  uint32_t version = 0;  // 130001

  // Nanoseconds of CUPTI's clock, which is the system's real-time clock.
  int64_t Now() const;
  std::string Text(CUptiResult result) const;
};

// Returns "" or why there is no CUPTI and what to do.
std::string LoadCupti(const std::string& library, CuptiApi& api);

// The calls of a domain by number, with the names that Kineto gives them: "cudaLaunchKernel",
// "cuMemcpyHtoDAsync_v2"; "" for a number that CUPTI does not know.
std::vector<std::string> CallNames(const CuptiApi& api, CUpti_CallbackDomain domain);

}  // namespace perfgate::cupti
