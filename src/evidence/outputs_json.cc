#include <cmath>
#include <limits>
#include <utility>

#include "evidence/outputs.h"

namespace perfgate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An element as JSON has it: a number, or "nan", "inf", "-inf".
Json ElementToJson(double value) {
  if (std::isnan(value)) return Json("nan");
  if (std::isinf(value)) return Json(value > 0 ? "inf" : "-inf");
  return Json(value);
}

double ElementFromJson(const Json& json) {
  if (!json.IsString()) return json.AsNumber();
  if (json.AsString() == "nan") return std::numeric_limits<double>::quiet_NaN();
  return json.AsString() == "-inf" ? -kInfinity : kInfinity;
}

Json IndexToJson(const std::optional<std::vector<int64_t>>& index) {
  return index ? Json::ArrayOf(*index) : Json();
}

std::vector<int64_t> CountsFromJson(const Json& json, std::string_view key) {
  std::vector<int64_t> counts;
  for (const Json& item : json.AsArray()) counts.push_back(AsCount(item, key));
  return counts;
}

std::optional<std::vector<int64_t>> IndexFromJson(const Json& json, std::string_view key) {
  const Json& index = json.At(key);
  if (index.IsNull()) return std::nullopt;
  return CountsFromJson(index, key);
}

int64_t CountOrUnknown(const Json& json, std::string_view key) {
  return json.At(key).IsNull() ? -1 : AsCount(json.At(key), key);
}

// null is infinity: JSON has no other word for it.
double ErrorFromJson(const Json& json) { return json.IsNull() ? kInfinity : json.AsNumber(); }

OutputError ReadError(const Json& json) {
  OutputError error;
  error.reference_dtype = json.At("reference_dtype").AsString();
  error.compared = AsCount(json.At("compared"), "compared");
  error.unlike = AsCount(json.At("unlike"), "unlike");
  error.relative = ErrorFromJson(json.At("relative_error"));
  error.largest = ErrorFromJson(json.At("max_abs_error"));
  error.index = CountsFromJson(json.At("index"), "index");
  error.value = ElementFromJson(json.At("value"));
  error.reference = ElementFromJson(json.At("reference"));
  return error;
}

}  // namespace

Json OutputToJson(const OutputRow& row) {
  Json entry{Json::Object{}};
  entry.Append("process", row.process);
  entry.Append("name", row.name);
  entry.Append("dtype", row.dtype);
  entry.Append("shape", Json::ArrayOf(row.shape));
  entry.Append("nan_count", row.nan_count < 0 ? Json() : Json(row.nan_count));
  entry.Append("inf_count", row.inf_count < 0 ? Json() : Json(row.inf_count));
  entry.Append("first_nan", IndexToJson(row.first_nan));
  entry.Append("first_inf", IndexToJson(row.first_inf));
  if (!row.error) return entry;
  entry.Append("reference_dtype", row.error->reference_dtype);
  entry.Append("compared", row.error->compared);
  entry.Append("unlike", row.error->unlike);
  entry.Append("relative_error", row.error->relative);
  entry.Append("max_abs_error", row.error->largest);
  entry.Append("index", Json::ArrayOf(row.error->index));
  entry.Append("value", ElementToJson(row.error->value));
  entry.Append("reference", ElementToJson(row.error->reference));
  return entry;
}

Json OutputsToJson(const std::vector<OutputRow>& rows) {
  Json::Array array;
  for (const OutputRow& row : rows) array.push_back(OutputToJson(row));
  return Json(std::move(array));
}

std::vector<OutputRow> OutputsFromJson(const Json& json) {
  std::vector<OutputRow> rows;
  for (const Json& item : json.AsArray()) {
    OutputRow row;
    row.process =
        static_cast<int>(AsCount(item.At("process"), "process", std::numeric_limits<int>::max()));
    row.name = item.At("name").AsString();
    row.dtype = item.At("dtype").AsString();
    row.shape = CountsFromJson(item.At("shape"), "shape");
    row.nan_count = CountOrUnknown(item, "nan_count");
    row.inf_count = CountOrUnknown(item, "inf_count");
    row.first_nan = IndexFromJson(item, "first_nan");
    row.first_inf = IndexFromJson(item, "first_inf");
    if (item.Find("compared") != nullptr) row.error = ReadError(item);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace perfgate
