// A verdict read back from its JSON: what `perfgate comment` gets from another job, perhaps from a
// fork. Every member has its type, every name is one that is known, every number has a size that
// formatting it bears.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "report/report.h"

namespace perfgate {
namespace {

constexpr std::array kResults = {Result::kPass, Result::kFail, Result::kError,
                                 Result::kInconclusive, Result::kNotComparable};
constexpr std::array kSeverities = {Severity::kOff, Severity::kWarn, Severity::kError};
constexpr std::array kStatuses = {Status::kPass,    Status::kImproved,      Status::kWarn,
                                  Status::kFail,    Status::kInconclusive,  Status::kError,
                                  Status::kMissing, Status::kNotComparable, Status::kSuspicious,
                                  Status::kSkipped, Status::kWaived};

constexpr std::array kLacks = {Lack::kBaseline, Lack::kPairs, Lack::kSameWork, Lack::kHistory,
                               Lack::kSince};

template <typename Values>
auto OneOf(const Values& values, const Json& json, std::string_view key) {
  const std::string& text = json.At(key).AsString();
  for (const auto value : values) {
    if (ToString(value) == text) return value;
  }
  throw Error(Fault::kInput,
              fmt::format("`{}`: `{}` is none that is known", key, Shorten(Printable(text), 60)));
}

// "" and empty where an older writer had no such member.
std::string TextIn(const Json& json, std::string_view key) {
  const Json* text = json.Find(key);
  return text == nullptr ? "" : text->AsString();
}

std::vector<std::string> TextsIn(const Json& json, std::string_view key) {
  std::vector<std::string> texts;
  if (const Json* list = json.Find(key)) {
    for (const Json& text : list->AsArray()) texts.push_back(text.AsString());
  }
  return texts;
}

// A count or a time that may be a difference.
int64_t SignedIn(const Json& json, std::string_view key) {
  constexpr int64_t kMost = int64_t{1} << 53;
  const Json* number = json.Find(key);
  if (number == nullptr || number->IsNull()) return 0;
  if (number->AsInt() > kMost || number->AsInt() < -kMost) {
    throw Error(Fault::kInput, fmt::format("`{}`: the number is too large", key));
  }
  return number->AsInt();
}

int SmallIn(const Json& json, std::string_view key) {
  const Json* number = json.Find(key);
  return number == nullptr ? 0 : static_cast<int>(AsCount(*number, key, 1'000'000'000));
}

bool FlagIn(const Json& json, std::string_view key) {
  const Json* flag = json.Find(key);
  return flag != nullptr && flag->AsBool();
}

std::optional<double> ValueIn(const Json& json, std::string_view key) {
  const Json& number = json.At(key);
  if (number.IsNull()) return {};
  if (std::fabs(number.AsNumber()) > 1e18) {
    throw Error(Fault::kInput, fmt::format("`{}`: the number is too large", key));
  }
  return number.AsNumber();
}

// Indices into a list of the case.
std::vector<int> IndicesIn(const Json& json, std::string_view key) {
  std::vector<int> indices;
  if (const Json* list = json.Find(key)) {
    for (const Json& index : list->AsArray()) {
      indices.push_back(static_cast<int>(AsCount(index, key, 1'000'000'000)));
    }
  }
  return indices;
}

ChangeKind KindIn(const Json& json) {
  if (const std::optional<ChangeKind> kind = FindChangeKind(json.AsString())) return *kind;
  throw Error(Fault::kInput,
              fmt::format("`{}` is no kind of change", Shorten(Printable(json.AsString()), 60)));
}

ChangedKernel KernelIn(const Json& json) {
  ChangedKernel kernel;
  kernel.name = json.At("name").AsString();
  kernel.short_name = TextIn(json, "short_name");
  kernel.canonical = TextIn(json, "canonical");
  kernel.device = TextIn(json, "device");
  kernel.op_path = TextIn(json, "operator");
  kernel.place = TextIn(json, "place");
  kernel.backward_of = TextIn(json, "backward_of");
  kernel.ops = TextsIn(json, "ops");
  kernel.count = SignedIn(json, "count");
  kernel.time_ns = SignedIn(json, "time_ns");
  return kernel;
}

std::vector<ChangedKernel> KernelsIn(const Json& json, std::string_view key) {
  std::vector<ChangedKernel> kernels;
  if (const Json* list = json.Find(key)) {
    for (const Json& kernel : list->AsArray()) kernels.push_back(KernelIn(kernel));
  }
  return kernels;
}

// All 0 in a verdict of an earlier perfgate, which did not say them.
TransferDelta TransfersIn(const Json& json, std::string_view key) {
  const Json* transfers = json.Find(key);
  if (transfers == nullptr || transfers->IsNull()) return {};
  return {SignedIn(*transfers, "count"), SignedIn(*transfers, "bytes"),
          SignedIn(*transfers, "time_ns")};
}

Change ChangeIn(const Json& json) {
  Change change;
  change.kind = KindIn(json.At("kind"));
  if (const Json* also = json.Find("also")) {
    for (const Json& kind : also->AsArray()) change.also.push_back(KindIn(kind));
  }
  change.text = json.At("text").AsString();
  change.base = KernelsIn(json, "base_kernels");
  change.head = KernelsIn(json, "head_kernels");
  change.ops = TextsIn(json, "ops");
  change.operators = TextsIn(json, "operators");
  change.places = TextsIn(json, "places");
  change.count = SignedIn(json, "count");
  change.time_ns = SignedIn(json, "time_ns");
  change.transfers = TransfersIn(json, "transfers");
  return change;
}

Finding FindingIn(const Json& json, const std::string& case_name) {
  Finding finding;
  finding.case_name = case_name;
  finding.rule = json.At("rule").AsString();
  finding.where.file = json.At("where").AsString();  // with its line: for people
  finding.severity = OneOf(kSeverities, json, "severity");
  finding.status = OneOf(kStatuses, json, "status");
  const Json* lacks = json.Find("lacks");  // a verdict of an earlier perfgate says none
  if (lacks != nullptr && !lacks->IsNull()) finding.lacks = OneOf(kLacks, json, "lacks");
  if (const Json& metric = json.At("metric"); !metric.IsNull()) {
    finding.metric = FindMetric(metric.AsString());
  }
  finding.base = ValueIn(json, "base");
  finding.head = ValueIn(json, "head");
  finding.delta = ValueIn(json, "delta");
  finding.limit = json.At("limit").AsString();
  finding.message = json.At("message").AsString();
  finding.why = json.At("why").AsString();
  finding.next = json.At("next").AsString();
  finding.changes = IndicesIn(json, "changes");
  finding.slower = IndicesIn(json, "slower");
  finding.operators = TextsIn(json, "operators");
  finding.kernels = TextsIn(json, "kernels");
  return finding;
}

std::optional<Diff> DiffIn(const Json& json) {
  const Json& diagnosis = json.At("diagnosis");
  if (diagnosis.IsNull()) return {};
  Diff diff;
  diff.unknown_key = TextsIn(json, "unknown_key");
  diff.different_shapes = TextIn(json, "different_shapes");
  for (const Json& change : json.At("changes").AsArray()) diff.changes.push_back(ChangeIn(change));
  if (const Json* slower = json.Find("slower")) {
    for (const Json& drift : slower->AsArray()) {
      diff.slower.push_back({KernelIn(drift.At("base")), KernelIn(drift.At("head"))});
    }
  }
  diff.kernel_count = SignedIn(json, "kernel_count_delta");
  diff.kernel_time_ns = SignedIn(json, "kernel_time_ns_delta");
  diff.unchanged_time_ns = SignedIn(json, "unchanged_time_ns_delta");
  diff.transfers = TransfersIn(json, "transfers_delta");
  diff.unchanged_transfers = TransfersIn(json, "unchanged_transfers_delta");
  diff.base_bound = TextIn(diagnosis, "base");
  diff.head_bound = TextIn(diagnosis, "head");
  const Json::Array& answers = diagnosis.At("answers").AsArray();
  for (size_t i = 0; i < answers.size() && i < diff.answers.size(); ++i) {
    diff.answers[i] = {answers[i].At("question").AsString(), answers[i].At("answer").AsString()};
  }
  return diff;
}

CaseVerdict CaseIn(const Json& json) {
  CaseVerdict item;
  item.case_name = json.At("case").AsString();
  item.status = OneOf(kStatuses, json, "status");
  item.device_kind = TextIn(json.At("device"), "kind");
  item.device_name = TextIn(json.At("device"), "name");
  item.incomplete_because = TextsIn(json, "incomplete_because");
  item.key_differences = TextsIn(json, "key_differences");
  item.notes = TextsIn(json, "notes");
  item.plant = json.At("plant").AsString();
  for (const Json& entry : json.At("fallback").AsArray()) {
    item.fallback.push_back({entry.At("what").AsString(), entry.At("why").AsString()});
  }
  for (const Json& finding : json.At("findings").AsArray()) {
    item.findings.push_back(FindingIn(finding, item.case_name));
  }
  item.diff = DiffIn(json);
  return item;
}

Review ReviewIn(const Json& json) {
  Review review{TextIn(json, "base"), TextIn(json, "problem"), {}};
  for (const Json& item : json.At("items").AsArray()) {
    review.items.push_back({OneOf(kEffects, item, "effect"), TextIn(item, "subject"),
                            TextIn(item, "text"), TextIn(item, "reason")});
  }
  if (json.Find("notes") != nullptr) review.notes = TextsIn(json, "notes");
  const Json* compared = json.Find("compared");
  // A verdict of an earlier version does not say it.
  review.compared = compared == nullptr ? !review.items.empty() : compared->AsBool();
  return review;
}

}  // namespace

Verdict VerdictFromJson(const Json& json) {
  if (json.At("schema") != Json("perfgate.verdict/1")) {
    throw Error(Fault::kInput, "it is no perfgate.verdict/1");
  }
  Verdict verdict;
  verdict.result = OneOf(kResults, json, "verdict");
  verdict.exit_code = SmallIn(json, "exit_code");
  verdict.suite = json.At("suite").AsString();
  verdict.run_id = json.At("run").AsString();
  verdict.device = json.At("device").AsString();
  verdict.stack = json.At("stack").AsString();
  verdict.base_label = json.At("base").AsString();
  verdict.head_label = json.At("head").AsString();
  verdict.measured_base = TextIn(json, "measured_base");
  verdict.no_baseline_warns = FlagIn(json, "no_baseline_warns");
  verdict.rules = SmallIn(json, "rules");
  verdict.declared_cases = SmallIn(json, "declared_cases");
  verdict.quick = FlagIn(json, "quick");
  verdict.problems = TextsIn(json, "problems");
  if (const Json* review = json.Find("review"); review != nullptr && !review->IsNull()) {
    verdict.review = ReviewIn(*review);
  }
  for (const Json& item : json.At("cases").AsArray()) verdict.cases.push_back(CaseIn(item));
  return verdict;
}

}  // namespace perfgate
