// The verdict as a contract for programs: schema "perfgate.verdict/1", docs/formats.md.
#include "report/layout.h"
#include "report/report.h"

namespace perfgate {
namespace {

Json Optional(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json KernelJson(const ChangedKernel& kernel) {
  return Json(Json::Object{{"name", Json(kernel.name)},
                           {"short_name", Json(kernel.short_name)},
                           {"canonical", Json(kernel.canonical)},
                           {"device", Json(kernel.device)},
                           {"operator", Json(kernel.op_path)},
                           {"place", Json(kernel.place)},
                           {"backward_of", Json(kernel.backward_of)},
                           {"ops", Json::ArrayOf(kernel.ops)},
                           {"count", Json(kernel.count)},
                           {"time_ns", Json(kernel.time_ns)}});
}

Json Names(const std::vector<ChangedKernel>& kernels) {
  Json names{Json::Array{}};
  for (const ChangedKernel& kernel : kernels) names.Push(kernel.name);
  return names;
}

Json Rows(const std::vector<ChangedKernel>& kernels) {
  Json rows{Json::Array{}};
  for (const ChangedKernel& kernel : kernels) rows.Push(KernelJson(kernel));
  return rows;
}

Json TransfersJson(const TransferDelta& transfers) {
  return Json(Json::Object{{"count", Json(transfers.count)},
                           {"bytes", Json(transfers.bytes)},
                           {"time_ns", Json(transfers.time_ns)}});
}

Json ChangeJson(const Change& change) {
  Json also{Json::Array{}};
  for (const ChangeKind kind : change.also) also.Push(Json(ToString(kind)));
  return Json(Json::Object{{"kind", Json(ToString(change.kind))},
                           {"also", std::move(also)},
                           {"text", Json(change.text)},
                           {"base", Names(change.base)},
                           {"head", Names(change.head)},
                           {"ops", Json::ArrayOf(change.ops)},
                           {"operators", Json::ArrayOf(change.operators)},
                           {"places", Json::ArrayOf(change.places)},
                           {"count", Json(change.count)},
                           {"time_ns", Json(change.time_ns)},
                           {"transfers", TransfersJson(change.transfers)},
                           {"base_kernels", Rows(change.base)},
                           {"head_kernels", Rows(change.head)}});
}

std::string_view ToString(Undecided undecided) {
  switch (undecided) {
    case Undecided::kNothing:
      return "";
    case Undecided::kTooFewPairs:
      return "too_few_pairs";
    case Undecided::kTooWide:
      return "too_noisy";
    case Undecided::kBimodal:
      return "bimodal";
    case Undecided::kFamily:
      return "too_many_comparisons";
    case Undecided::kNotPositive:
      return "not_positive";
  }
  return "";
}

Json StatisticsJson(const PairedTimes& times) {
  const Comparison& comparison = times.comparison;
  const auto& more = comparison.pairs_to_decide;
  return Json(Json::Object{{"round", Json(times.round)},
                           {"pairs", Json(comparison.pairs)},
                           {"planned_pairs", Json(times.planned)},
                           {"confirming_pairs", Json(times.pairs_wanted)},
                           {"shift", Json(comparison.shift)},
                           {"lower", Optional(comparison.lower)},
                           {"upper", Optional(comparison.upper)},
                           {"p", Json(comparison.p)},
                           {"noise", Json(comparison.noise)},
                           {"detectable", Json(comparison.detectable)},
                           {"undecided", Json(ToString(comparison.undecided))},
                           {"pairs_to_decide", more ? Json(*more) : Json()}});
}

Json HistoryJson(const PastTimes& past) {
  const HistoryComparison& comparison = past.comparison;
  return Json(Json::Object{{"sessions", Json(past.sessions)},
                           {"first_run", Json(past.first_run)},
                           {"last_run", Json(past.last_run)},
                           {"noise", Json(comparison.noise)},
                           {"limit", Json(comparison.limit)},
                           {"first", Json(comparison.first)},
                           {"second", Optional(comparison.second)},
                           {"bimodal", Json(comparison.bimodal)}});
}

Json FindingJson(const Finding& finding, const CaseVerdict& item) {
  Json json{Json::Object{}};
  json.Append("rule", finding.rule);
  json.Append("where", ToString(finding.where));
  json.Append("severity", ToString(finding.severity));
  json.Append("status", ToString(finding.status));
  json.Append("lacks", SaysLack(finding.status) ? Json(ToString(finding.lacks)) : Json());
  json.Append("metric", finding.metric ? Json(Info(*finding.metric).name) : Json());
  json.Append("unit", finding.metric ? Json(ToString(Info(*finding.metric).unit)) : Json());
  json.Append("base", Optional(finding.base));
  json.Append("head", Optional(finding.head));
  json.Append("limit", finding.limit);
  json.Append("delta", Optional(finding.delta));
  json.Append("statistics", finding.times ? StatisticsJson(*finding.times) : Json());
  json.Append("history", finding.past ? HistoryJson(*finding.past) : Json());
  json.Append("changes", Json::ArrayOf(finding.changes));
  json.Append("slower", Json::ArrayOf(finding.slower));
  json.Append("operators", Json::ArrayOf(finding.operators));
  json.Append("kernels", Json::ArrayOf(finding.kernels));
  json.Append("output", finding.output ? OutputToJson(*finding.output) : Json());
  json.Append("message", finding.message);
  json.Append("why", finding.why);
  json.Append("next", finding.next);
  json.Append("attempts", Json::ArrayOf(item.attempts));
  return json;
}

Json SlowerJson(const Diff& diff) {
  Json list{Json::Array{}};
  for (const Drift& drift : diff.slower) {
    list.Push(
        Json(Json::Object{{"base", KernelJson(drift.base)}, {"head", KernelJson(drift.head)}}));
  }
  return list;
}

Json DiagnosisJson(const Diff& diff) {
  Json answers{Json::Array{}};
  for (const Answer& answer : diff.answers) {
    answers.Push(
        Json(Json::Object{{"question", Json(answer.question)}, {"answer", Json(answer.answer)}}));
  }
  return Json(Json::Object{{"base", Json(diff.base_bound)},
                           {"head", Json(diff.head_bound)},
                           {"answers", std::move(answers)}});
}

Json CaseJson(const CaseVerdict& item) {
  Json json{Json::Object{}};
  json.Append("case", item.case_name);
  json.Append("status", ToString(item.status));
  json.Append("device", Json(Json::Object{{"kind", Json(item.device_kind)},
                                          {"name", Json(item.device_name)}}));
  json.Append("incomplete_because", Json::ArrayOf(item.incomplete_because));
  json.Append("key_differences", Json::ArrayOf(item.key_differences));
  json.Append("unknown_key",
              item.diff ? Json::ArrayOf(item.diff->unknown_key) : Json(Json::Array{}));
  json.Append("different_shapes", item.diff ? item.diff->different_shapes : "");
  json.Append("plant", item.plant);
  Json fallback{Json::Array{}};
  for (const Fallback& entry : item.fallback) {
    fallback.Push(Json(Json::Object{{"what", Json(entry.what)}, {"why", Json(entry.why)}}));
  }
  json.Append("fallback", std::move(fallback));
  json.Append("notes", Json::ArrayOf(item.notes));
  Json findings{Json::Array{}}, changes{Json::Array{}};
  for (const Finding& finding : item.findings) findings.Push(FindingJson(finding, item));
  if (item.diff) {
    for (const Change& change : item.diff->changes) changes.Push(ChangeJson(change));
  }
  json.Append("findings", std::move(findings));
  json.Append("changes", std::move(changes));
  json.Append("slower", item.diff ? SlowerJson(*item.diff) : Json(Json::Array{}));
  json.Append("kernel_count_delta", item.diff ? Json(item.diff->kernel_count) : Json());
  json.Append("kernel_time_ns_delta", item.diff ? Json(item.diff->kernel_time_ns) : Json());
  json.Append("changed_time_ns_delta",
              item.diff ? Json(item.diff->kernel_time_ns - item.diff->unchanged_time_ns) : Json());
  json.Append("unchanged_time_ns_delta", item.diff ? Json(item.diff->unchanged_time_ns) : Json());
  json.Append("transfers_delta", item.diff ? TransfersJson(item.diff->transfers) : Json());
  json.Append(
      "changed_transfers_delta",
      item.diff ? TransfersJson(item.diff->transfers - item.diff->unchanged_transfers) : Json());
  json.Append("unchanged_transfers_delta",
              item.diff ? TransfersJson(item.diff->unchanged_transfers) : Json());
  json.Append("diagnosis", item.diff ? DiagnosisJson(*item.diff) : Json());
  return json;
}

}  // namespace

Json VerdictAsJson(const Verdict& verdict) {
  Json json{Json::Object{}};
  json.Append("schema", "perfgate.verdict/1");
  json.Append("verdict", ToString(verdict.result));
  json.Append("exit_code", verdict.exit_code);
  json.Append("suite", verdict.suite);
  json.Append("run", verdict.run_id);
  json.Append("device", verdict.device);
  json.Append("stack", verdict.stack);
  json.Append("base", verdict.base_label);
  json.Append("head", verdict.head_label);
  if (!verdict.measured_base.empty()) json.Append("measured_base", verdict.measured_base);
  json.Append("no_baseline_warns", verdict.no_baseline_warns);
  json.Append("rules", verdict.rules);
  json.Append("declared_cases", verdict.declared_cases);
  json.Append("quick", verdict.quick);
  json.Append("problems", Json::ArrayOf(verdict.problems));
  json.Append("review", verdict.review ? ReviewAsJson(*verdict.review) : Json());
  Json cases{Json::Array{}};
  for (const CaseVerdict& item : verdict.cases) cases.Push(CaseJson(item));
  json.Append("cases", std::move(cases));
  return json;
}

}  // namespace perfgate
