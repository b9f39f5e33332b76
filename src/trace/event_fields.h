// The keys of a trace event: which of them are of use, and which tell that an event is meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace perfgate {

enum class EventField : uint8_t {
  kNone,
  kPhase,
  kCategory,
  kName,
  kProcess,
  kThread,
  kStart,
  kDuration,
  kArgs,
  kCorrelation,
  kExternalId,
  kBytes,
  kCbid,
  kDevice,
  kStream,
  kDeviceType,
  kDeviceId,
  kInputDims,
  kInputTypes,
  kModuleHierarchy,
  kSequence,
  kForwardThread,
  kGrid,
  kBlock,
  kFromDevice,
  kFinished,
  kRocprof,
  kTaskType,
  kLabel,  // what a row of metadata calls a process or a thread
  kCollective,
  kMessageDtype,
  kInElements,
  kOutElements,
  kGroupSize,
};

// kNone: of no use.
EventField FieldOf(std::string_view key);     // of the event itself
EventField ArgumentOf(std::string_view key);  // of its `args`

// Keys that an event may have, of use or not.
bool IsEventKey(std::string_view key);
inline constexpr size_t kLongestEventKey = 4;

// Keys of an event or of its `args` that hardly anything else has.
bool TellsOfEvent(std::string_view key);
inline constexpr size_t kLongestTellingKey = 18;

}  // namespace perfgate
