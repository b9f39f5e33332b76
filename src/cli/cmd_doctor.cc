#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/select.h"

namespace perfgate::cli {
namespace {

std::vector<std::string> Lacking(const Examination& found, const Ability& ability) {
  std::vector<std::string> lacking;
  for (const std::string& part : ability.needs) {
    if (!found.Has(part)) lacking.push_back(part);
  }
  return lacking;
}

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json ExaminationJson(const Examination& found) {
  Json parts{Json::Array{}}, abilities{Json::Array{}};
  for (const Part& part : found.parts) {
    parts.Push(Json(Json::Object{{"part", Json(part.name)},
                                 {"found", OrNull(part.found)},
                                 {"fault", OrNull(part.fault)},
                                 {"mend", OrNull(part.mend)}}));
  }
  for (const Ability& ability : found.abilities) {
    Json missing{Json::Array{}};
    for (const std::string& part : Lacking(found, ability)) missing.Push(Json(part));
    abilities.Push(Json(Json::Object{{"what", Json(ability.what)},
                                     {"possible", Json(Lacking(found, ability).empty())},
                                     {"missing", std::move(missing)}}));
  }
  return Json(Json::Object{{"schema", Json("perfgate.doctor/1")},
                           {"can_measure", std::move(abilities)},
                           {"parts", std::move(parts)}});
}

void PrintExamination(const Examination& found, std::ostream& out) {
  out << "This machine can measure\n";
  for (const Ability& ability : found.abilities) {
    const std::vector<std::string> lacking = Lacking(found, ability);
    out << (lacking.empty() ? "  yes  " : "  no   ") << ability.what;
    out << (lacking.empty() ? "" : "; missing: " + Join(lacking, ", ")) << "\n";
  }
  out << "\nWhat is there\n";
  for (const Part& part : found.parts) {
    if (part.fault.empty()) out << fmt::format("  {:<15} {}\n", part.name, part.found);
  }
  if (std::all_of(found.parts.begin(), found.parts.end(),
                  [](const Part& part) { return part.fault.empty(); })) {
    return;
  }
  out << "\nWhat is missing, and what mends it\n";
  for (const Part& part : found.parts) {
    if (part.fault.empty()) continue;
    out << fmt::format("  {:<15} {}\n  {:<15} {}\n", part.name, part.fault, "", part.mend);
  }
}

}  // namespace

int Doctor(const DoctorArgs& args, World& world) {
  const Examination found = Examine(TorchRunner(world), world);
  if (const int signal = world.Interrupted(); signal != 0) return 128 + signal;
  if (args.format == Format::kJson) {
    world.Out() << WriteJson(ExaminationJson(found), 1);
  } else {
    PrintExamination(found, world.Out());
  }
  const bool any =
      std::any_of(found.abilities.begin(), found.abilities.end(),
                  [&found](const Ability& ability) { return Lacking(found, ability).empty(); });
  if (any) return 0;
  world.Err()
      << "perfgate: this machine can measure nothing yet; traces that exist can be judged\n";
  return 3;
}

}  // namespace perfgate::cli
