// Runs and evidence taken apart into what the tables hold, and put together again. Each part is the
// JSON that attempt/ and evidence/ write, so a field that is new there is stored without a change
// here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "attempt/attempt.h"
#include "base/json.h"
#include "evidence/evidence.h"

namespace perfgate {

struct RunParts {
  Json record;  // run.json without its attempts
  Json::Array attempts;
};

RunParts SplitRun(const RunRecord& run);
// `name` stands for the source in messages of Error(kInput).
RunRecord JoinRun(RunParts parts, const std::string& name);

// The fields of a key as `environment` keeps them, and the digest by which it knows them.
std::string FieldsText(const Key& key);
std::string DigestOf(const Key& key);

struct EvidenceParts {
  Json detail;
  Json::Object metrics;
  Json::Array observations;
  std::vector<std::pair<std::string, Json::Array>> kernels;  // by kind, see kKernelKinds
};

// Kinds of rows in the table `kernel`, and the lists of the evidence that they come from.
struct KernelKind {
  const char* kind;
  const char* list;
};
inline constexpr KernelKind kKernelKinds[] = {
    {"kernel", "kernels"}, {"transfer", "transfers"}, {"sync", "syncs"}};

EvidenceParts SplitEvidence(const Evidence& evidence);
Evidence JoinEvidence(EvidenceParts parts);

}  // namespace perfgate
