// docs/schema/evidence.json says exactly what is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "evidence/evidence.h"

namespace perfgate {
namespace {

using testing::IsSubsetOf;
using testing::UnorderedElementsAreArray;

const std::filesystem::path kData = PERFGATE_TEST_DATA;

Json Schema() {
  return ParseJson(ReadFile(kData / "../../docs/schema/evidence.json"), "evidence.json");
}

std::vector<std::string> Keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.AsObject()) keys.push_back(key);
  return keys;
}

std::vector<std::string> Required(const Json& schema) {
  std::vector<std::string> keys;
  for (const Json& key : schema.At("required").AsArray()) keys.push_back(key.AsString());
  return keys;
}

void ExpectFits(const Json& object, const Json& schema) {
  EXPECT_THAT(Required(schema), IsSubsetOf(Keys(object)));
  EXPECT_THAT(Keys(object), IsSubsetOf(Keys(schema.At("properties"))));
}

TEST(EvidenceSchema, NamesEveryKeyThatIsWritten) {
  const Json schema = Schema();
  Evidence whole = ExtractTrace(kData / "traces/mlp_pageable_h2d.json.gz");
  whole.timed_series.emplace_back().percentiles.emplace_back();
  whole.outputs.emplace_back().error.emplace();
  whole.base_side = std::make_shared<const Evidence>(whole);
  const Json evidence = ToJson(whole);
  EXPECT_THAT(Keys(evidence), UnorderedElementsAreArray(Keys(schema.At("properties"))));
  ExpectFits(evidence, schema);
  const Json& row = schema.At("$defs").At("row");
  for (const char* rows : {"kernels", "transfers", "syncs"}) {
    ASSERT_FALSE(evidence.At(rows).AsArray().empty()) << rows;
    for (const Json& item : evidence.At(rows).AsArray()) ExpectFits(item, row);
  }
  const Json stacks = ToJson(ExtractTrace(kData / "traces/llama4_prefill_stack.json.gz"));
  for (const Json& item : stacks.At("kernels").AsArray()) {
    ExpectFits(item, row);
    for (const Json& place : item.At("modules").AsArray()) {
      ExpectFits(place, schema.At("$defs").At("places").At("items"));
    }
  }
  for (const auto& [name, metric] : evidence.At("metrics").AsObject()) {
    ExpectFits(metric, schema.At("$defs").At("metric"));
  }
  const Json& properties = schema.At("properties");
  for (const char* list : {"observations", "operators", "attempts", "timed_series", "outputs"}) {
    ASSERT_FALSE(evidence.At(list).AsArray().empty()) << list;
    for (const Json& item : evidence.At(list).AsArray()) {
      ExpectFits(item, properties.At(list).At("items"));
    }
  }
}

}  // namespace
}  // namespace perfgate
