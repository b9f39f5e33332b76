// Strict reading of JSON values in a buffer that ends with kPaddingBytes zero bytes. It takes the
// plain part of the grammar: numbers without exponent, strings without \u, nesting up to kDeepest.
// All functions return the place behind what they read, or nullptr if it is anything else.
#pragma once

#include <cstdint>

#include "trace/handler.h"

namespace perfgate {

// A number; what follows it is for the caller to check.
const char* SkipNumber(const char* at);
// A whole number of at most 18 digits. nullptr also for "1.5" and "1e3".
const char* ReadShortInteger(const char* at, int64_t& number);
// Microseconds with three decimals, at most 15 digits before them, as nanoseconds.
const char* ReadUsualTime(const char* at, int64_t& ns);
// A string, from its first quote; escapes of one letter are taken.
const char* SkipString(const char* at);
// A string without escapes, from its first quote.
const char* SkipPlainString(const char* at);
// Any value.
const char* SkipJson(const char* at);
// Any value whose strings have no escapes, told to the handler.
const char* FeedJson(const char* at, TraceHandler& handler);

}  // namespace perfgate
