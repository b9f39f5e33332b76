#include "store/rows.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace perfgate {
namespace {

// Takes the member `key` out of the object.
Json Take(Json::Object& object, std::string_view key) {
  const auto found = std::find_if(object.begin(), object.end(), [key](const Json::Member& member) {
    return member.first == key;
  });
  if (found == object.end()) return Json();
  Json value = std::move(found->second);
  object.erase(found);
  return value;
}

}  // namespace

std::string FieldsText(const Key& key) {
  Json fields{Json::Object{}};
  for (const auto& [name, value] : key.fields) fields.Append(name, value);
  return WriteJson(fields, 0);
}

std::string DigestOf(const Key& key) { return Hash16(FieldsText(key)); }

RunParts SplitRun(const RunRecord& run) {
  Json::Object object = ToJson(run).AsObject();
  Json::Array attempts = Take(object, "attempts").AsArray();
  return {Json(std::move(object)), std::move(attempts)};
}

RunRecord JoinRun(RunParts parts, const std::string& name) {
  parts.record.Set("attempts", Json(std::move(parts.attempts)));
  return RunRecordFromJson(parts.record, name);
}

EvidenceParts SplitEvidence(const Evidence& evidence) {
  Json::Object object = ToJson(evidence).AsObject();
  EvidenceParts parts;
  parts.metrics = Take(object, "metrics").AsObject();
  parts.observations = Take(object, "observations").AsArray();
  for (const KernelKind& kind : kKernelKinds) {
    parts.kernels.emplace_back(kind.kind, Take(object, kind.list).AsArray());
  }
  parts.detail = Json(std::move(object));
  return parts;
}

Evidence JoinEvidence(EvidenceParts parts) {
  Json& json = parts.detail;
  json.Set("metrics", Json(std::move(parts.metrics)));
  json.Set("observations", Json(std::move(parts.observations)));
  for (const KernelKind& kind : kKernelKinds) {
    const auto found = std::find_if(parts.kernels.begin(), parts.kernels.end(),
                                    [&](const auto& rows) { return rows.first == kind.kind; });
    json.Set(kind.list,
             found == parts.kernels.end() ? Json(Json::Array{}) : Json(std::move(found->second)));
  }
  return EvidenceFromJson(json);
}

}  // namespace perfgate
