// A case as an object of run.json.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "attempt/attempt.h"
#include "attempt/fields.h"
#include "base/json.h"

namespace perfgate {

Json WriteCase(const Case& declared);
Case ReadCase(const Fields& fields);

// A text of digits, since a seed has 64 bits and JSON numbers lose the last ones in many readers.
uint64_t ReadSeed(const Fields& fields);

// The value of the enum whose ToString is the member's text; the first one if it is absent.
template <typename Enum>
Enum ReadEnum(const Fields& fields, std::string_view key, std::initializer_list<Enum> values) {
  if (!fields.Has(key)) return *values.begin();
  const std::string text = fields.Text(key);
  std::string names;
  for (const Enum value : values) {
    if (ToString(value) == text) return value;
    names.append(names.empty() ? "" : ", ").append(ToString(value));
  }
  fields.Fail(key, "expected one of " + names);
}

}  // namespace perfgate
