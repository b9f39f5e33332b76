#include "trace/event_fields.h"

#include <algorithm>
#include <array>

namespace perfgate {
namespace {

struct KnownKey {
  std::string_view text;
  EventField field;
  bool telling = false;
};

// Not telling: a range may be named by a JSON text of the user's own, which has a "name" or "id".
constexpr std::array kEventKeys = {
    KnownKey{"ph", EventField::kPhase, true},
    KnownKey{"cat", EventField::kCategory, true},
    KnownKey{"name", EventField::kName},
    KnownKey{"pid", EventField::kProcess, true},
    KnownKey{"tid", EventField::kThread, true},
    KnownKey{"ts", EventField::kStart, true},
    KnownKey{"dur", EventField::kDuration, true},
    KnownKey{"args", EventField::kArgs},
    KnownKey{"id", EventField::kNone},
    KnownKey{"bp", EventField::kNone},
    KnownKey{"s", EventField::kNone},
};
static_assert(std::all_of(kEventKeys.begin(), kEventKeys.end(),
                          [](const KnownKey& key) { return key.text.size() <= kLongestEventKey; }));

constexpr std::array kArguments = {
    KnownKey{"External id", EventField::kExternalId, true},
    KnownKey{"correlation", EventField::kCorrelation, true},
    KnownKey{"Input Dims", EventField::kInputDims},
    KnownKey{"Input type", EventField::kInputTypes},
    KnownKey{"Module Hierarchy", EventField::kModuleHierarchy},
    KnownKey{"Sequence number", EventField::kSequence},
    KnownKey{"Fwd thread id", EventField::kForwardThread},
    KnownKey{"device", EventField::kDevice},
    KnownKey{"stream", EventField::kStream},
    KnownKey{"cbid", EventField::kCbid},
    KnownKey{"bytes", EventField::kBytes},
    KnownKey{"Bytes", EventField::kBytes},
    KnownKey{"grid", EventField::kGrid},
    KnownKey{"block", EventField::kBlock},
    KnownKey{"Device Type", EventField::kDeviceType},
    KnownKey{"Device Id", EventField::kDeviceId},
    KnownKey{"fromDevice", EventField::kFromDevice},
    KnownKey{"finished", EventField::kFinished},
    KnownKey{"Collective name", EventField::kCollective},
    KnownKey{"dtype", EventField::kMessageDtype},
    KnownKey{"In msg nelems", EventField::kInElements},
    KnownKey{"Out msg nelems", EventField::kOutElements},
    KnownKey{"Group size", EventField::kGroupSize},
    // Older and other writers.
    KnownKey{"In msg size", EventField::kInElements},
    KnownKey{"Out msg size", EventField::kOutElements},
    KnownKey{"external id", EventField::kExternalId},
    KnownKey{"External Id", EventField::kExternalId},
    KnownKey{"Input dims", EventField::kInputDims},
    KnownKey{"size", EventField::kBytes},
    KnownKey{"cid", EventField::kCbid},
    KnownKey{"Correlation", EventField::kCorrelation},
    KnownKey{"BeginNs", EventField::kRocprof},
    KnownKey{"Task Type", EventField::kTaskType},
    KnownKey{"name", EventField::kLabel},
    // Of no use.
    KnownKey{"Ev Idx", EventField::kNone, true},
    KnownKey{"Python id", EventField::kNone, true},
    KnownKey{"Record function id", EventField::kNone, true},
};

static_assert(std::all_of(kArguments.begin(), kArguments.end(), [](const KnownKey& key) {
  return !key.telling || key.text.size() <= kLongestTellingKey;
}));

template <size_t kSize>
const KnownKey* Find(const std::array<KnownKey, kSize>& keys, std::string_view text) {
  for (const KnownKey& key : keys) {
    if (key.text == text) return &key;
  }
  return nullptr;
}

}  // namespace

EventField FieldOf(std::string_view key) {
  const KnownKey* known = Find(kEventKeys, key);
  return known == nullptr ? EventField::kNone : known->field;
}

EventField ArgumentOf(std::string_view key) {
  const KnownKey* known = Find(kArguments, key);
  return known == nullptr ? EventField::kNone : known->field;
}

bool IsEventKey(std::string_view key) { return Find(kEventKeys, key) != nullptr; }

bool TellsOfEvent(std::string_view key) {
  const KnownKey* known = Find(kEventKeys, key);
  if (known == nullptr) known = Find(kArguments, key);
  return known != nullptr && known->telling;
}

}  // namespace perfgate
