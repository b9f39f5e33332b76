#include "declare/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "base/text.h"
#include "declare/rule.h"

namespace perfgate {
namespace {

// Every rule is judged on every case; this many of each is seconds, more is a generated mistake.
constexpr size_t kMostRules = 2000;

// A rule's text before its overrides are known.
struct Draft {
  std::string id, full_id;
  std::string path;
  Yaml text;
  Spot spot;
  bool from_pack = false;
  std::string overridden_by;  // "file:line:column"
};

struct Override {
  std::string target;
  Reader at;  // the value of `override`
  Reader rule;
};

bool IsId(std::string_view text) {
  return !text.empty() && text.size() <= 100 && text[0] != '-' && text[0] != '.' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c < 0x80 && std::isalnum(c)) || c == '-' || c == '_' || c == '.';
         });
}

class RuleFiles {
 public:
  RuleFiles(const std::filesystem::path& folder,
            const std::map<std::string, std::filesystem::path>& moved, Problems& problems)
      : folder_(folder), moved_(moved), problems_(problems) {}

  void ReadSource(const RuleSource& source) {
    const bool pack = source.name.starts_with(kPackPrefix);
    const std::string name =
        pack ? source.name : std::filesystem::path(source.name).lexically_normal().generic_string();
    if (!sources_.insert(name).second) {
      Fail(source, fmt::format("{} is there twice", Quoted(source.name)));
      return;
    }
    std::optional<std::string> text;
    int file = 0;
    if (pack) {
      if (PackText(name).empty()) {
        Fail(source,
             fmt::format("no pack {}{}", Quoted(name), Suggestion(name, PackNames(), "packs")));
        return;
      }
      text = std::string(PackText(name));
      file = problems_.AddFile(name);
    } else {
      std::string path = (folder_ / name).lexically_normal().generic_string();
      if (const auto moved = moved_.find(path); moved != moved_.end()) path = moved->second;
      file = problems_.AddFile(path);
      text = ReadDeclaration(path, file, problems_, "a rule file is looked for beside the suite");
    }
    if (!text) return;
    auto document = ParseYaml(*text, file, problems_);
    if (!document) return;
    documents_.push_back(std::move(*document));
    ReadFile(Reader(documents_.back(), {file, 1, 1}, "", problems_), name, pack);
  }

  std::vector<Rule> Finish(const std::vector<std::string>* case_names) {
    for (const Override& override : overrides_) Apply(override);
    std::vector<Rule> rules;
    for (const Draft& draft : drafts_) {
      const Reader reader(draft.text, draft.spot, draft.path, problems_);
      Rule rule = ReadRule(reader);
      rule.id = draft.id;
      rule.full_id = draft.full_id;
      rule.from_pack = draft.from_pack;
      rule.where = problems_.At(draft.spot);
      if (case_names) CheckCases(reader, rule, *case_names);
      rules.push_back(std::move(rule));
    }
    return rules;
  }

 private:
  void Fail(const RuleSource& source, const std::string& text) {
    if (source.at) {
      source.at->Fail(text);
    } else {
      problems_.Add({problems_.AddFile("rules"), 0, 0}, "", text);
    }
  }

  void ReadFile(const Reader& root, const std::string& source, bool pack) {
    if (!root.Map(kRuleFileKeys) || !CheckVersion(root)) return;
    const auto rules = root.Find("rules");
    if (!rules) return;
    for (const Reader& rule : rules->Items()) {
      if (drafts_.size() + overrides_.size() >= kMostRules) {
        rule.Fail(fmt::format("more than {} rules", kMostRules));
        return;
      }
      ReadDraft(rule, source, pack);
    }
  }

  void ReadDraft(const Reader& rule, const std::string& source, bool pack) {
    if (!rule.Map(kRuleKeys)) return;
    if (rule.Has("id") == rule.Has("override")) {
      rule.Fail(rule.Has("id") ? "has both 'id' and 'override'; keep one of them"
                               : "key 'id' is missing (or 'override', to change a pack's rule)");
      return;
    }
    if (const auto target = rule.Find("override")) {
      const auto name = target->Text();
      if (name) overrides_.push_back({*name, *target, rule});
      return;
    }
    const Reader id = *rule.Find("id");
    const auto text = id.Text();
    if (!text) return;
    if (!IsId(*text)) {
      id.Fail(fmt::format("{} must be letters, digits, '-', '_' and '.' only", Quoted(*text)));
      return;
    }
    const std::string full_id = source + "/" + *text;
    if (!by_id_.emplace(full_id, drafts_.size()).second) {
      id.Fail(fmt::format("rule {} is there twice", Quoted(*text)));
      return;
    }
    drafts_.push_back({*text, full_id, rule.path(), rule.value(), id.spot(), pack, ""});
  }

  void Apply(const Override& override) {
    const auto found = by_id_.find(override.target);
    if (found == by_id_.end()) {
      UnknownTarget(override);
      return;
    }
    Draft& draft = drafts_[found->second];
    if (!draft.from_pack) {
      override.at.Fail(
          fmt::format("{} is no pack's rule; change it where it stands", Quoted(override.target)));
      return;
    }
    if (!draft.overridden_by.empty()) {
      override.at.Fail(fmt::format("{} is overridden already in {}", Quoted(override.target),
                                   draft.overridden_by));
      return;
    }
    draft.overridden_by = ToString(override.at.where());
    draft.path = override.rule.path();
    draft.spot = override.at.spot();
    for (const Yaml::Member& member : override.rule.value().members) {
      if (member.key == "override") continue;
      std::erase_if(draft.text.members, [&](const auto& m) { return m.key == member.key; });
      draft.text.members.push_back(member);
    }
  }

  void UnknownTarget(const Override& override) {
    const std::string pack = override.target.substr(0, override.target.find('/'));
    const bool known = !PackText(pack).empty();
    if (known && !sources_.contains(pack)) {
      override.at.Fail(fmt::format("{} is in pack {}, which the suite's 'rules' do not list",
                                   Quoted(override.target), pack));
      return;
    }
    std::vector<std::string> names;
    for (const Draft& draft : drafts_) {
      if (draft.from_pack && (!known || draft.full_id.starts_with(pack + "/"))) {
        names.push_back(draft.full_id);
      }
    }
    override.at.Fail(fmt::format("no pack has a rule {}{}", Quoted(override.target),
                                 Suggestion(override.target, names, "rules")));
  }

  void CheckCases(const Reader& rule, const Rule& read, const std::vector<std::string>& names) {
    if (read.optional || read.severity == Severity::kOff) return;
    const auto check = [&](const std::optional<Reader>& glob) {
      if (!glob || !glob->IsScalar()) return;
      const std::string& text = glob->value().text;
      for (const std::string& name : names) {
        if (MatchesGlob(text, name)) return;
      }
      const bool sample = !names.empty() && !problems_.Many();
      glob->Fail(fmt::format("{} matches no declared case ('optional: true' if that is meant){}",
                             Quoted(text), sample ? Suggestion(text, Some(names), "cases") : ""));
    };
    check(rule.Find("cases"));
    if (const auto waive = rule.Find("waive")) check(waive->Find("cases"));
  }

  static std::vector<std::string> Some(const std::vector<std::string>& names) {
    return {names.begin(),
            names.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(5, names.size()))};
  }

  std::filesystem::path folder_;
  const std::map<std::string, std::filesystem::path>& moved_;
  Problems& problems_;
  std::set<std::string> sources_;
  std::list<Yaml> documents_;  // readers refer into them
  std::vector<Draft> drafts_;
  std::map<std::string, size_t> by_id_;
  std::vector<Override> overrides_;
};

}  // namespace

std::vector<Rule> ReadRules(const std::vector<RuleSource>& sources,
                            const std::filesystem::path& folder,
                            const std::vector<std::string>* case_names, const LoadOptions& options,
                            Problems& problems) {
  RuleFiles files(folder, options.moved_rules, problems);
  for (const RuleSource& source : sources) files.ReadSource(source);
  return files.Finish(case_names);
}

std::vector<Rule> LoadRules(const std::vector<std::string>& sources,
                            const std::filesystem::path& folder) {
  Problems problems;
  std::vector<RuleSource> list;
  for (const std::string& source : sources) list.push_back({source, std::nullopt});
  std::vector<Rule> rules = ReadRules(list, folder, nullptr, {}, problems);
  problems.ThrowIfAny();
  return rules;
}

}  // namespace perfgate
