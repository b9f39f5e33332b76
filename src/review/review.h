// What a change of the suite, its rules, waivers and baselines means for the gate: what it waives,
// loosens and accepts against an earlier state of the same files. Pure: no clock, no files.
//
// A gate is as strict as these files, so a reviewer must see what a pull request takes from it,
// also, and above all, where the verdict is green.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "baseline/baseline.h"
#include "declare/declare.h"

namespace perfgate {

// In the order of reports. kAlters: neither clearly looser nor clearly stricter.
enum class Effect { kWaives, kLoosens, kAccepts, kAlters, kTightens };
inline constexpr Effect kEffects[] = {Effect::kWaives, Effect::kLoosens, Effect::kAccepts,
                                      Effect::kAlters, Effect::kTightens};
std::string_view ToString(Effect effect);  // "waives", "loosens", "accepts", "alters", "tightens"

struct ReviewItem {
  Effect effect = Effect::kAlters;
  std::string subject;  // a rule's full id, a case, a file
  std::string text;     // "severity error -> warn; at most +0 -> +2"
  std::string reason;   // of the waiver or the acceptance; "" where none is declared
};

struct Review {
  std::string base;               // short commit that head is compared with; "" if it is not known
  std::string problem;            // what could not be compared, why, and what mends it; "": nothing
  std::vector<ReviewItem> items;  // by effect, then suite, cases, rules, baselines
  bool compared = false;          // suite and rules were: `problem`, if any, is of another part
  std::vector<std::string> notes{};  // what is the same on both sides, for it lies elsewhere
};

// The files of one state, as they were read.
struct DeclaredState {
  Suite suite;
  std::vector<Baseline> baselines;
  std::filesystem::path baselines_folder;  // that the baselines' files lie in
};

std::vector<ReviewItem> CompareStates(const DeclaredState& base, const DeclaredState& head);

}  // namespace perfgate
