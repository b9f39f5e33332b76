#include "cli/base_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "cli/git.h"

namespace perfgate::cli {
namespace {

namespace fs = std::filesystem;

std::string Quoted(const std::string& text) { return "`" + Shorten(Printable(text), 200) + "`"; }

// Where the commit is missing because the clone ends before it, and what brings it.
Error NotInClone(const std::string& what, const std::string& otherwise, Git& git) {
  constexpr const char* kShallow =
      "this clone is shallow. On GitHub give actions/checkout `fetch-depth: 2` (the merge of a "
      "pull "
      "request, and its base) or `fetch-depth: 0` (all); elsewhere git fetch --unshallow";
  return {Fault::kEnvironment, what + ": " + (git.IsShallow() ? kShallow : otherwise)};
}

class BaseReader {
 public:
  BaseReader(const std::string& ref, const Selection& selection, World& world)
      : ref_(ref), selection_(selection), world_(world), git_(selection.suite.folder, world) {}

  // What stands in the way is its problem.
  Review Read() {
    Review review;
    try {
      const std::string commit = MergeBase();
      review.base = commit.substr(0, 7);
      Compare(commit, &review);
    } catch (const Error& error) {
      review.problem = InBase(error.what());
    }
    return review;
  }

 private:
  std::string Asked(const std::vector<std::string>& arguments) {
    GitAnswer answer = git_.Ask(arguments);
    if (!answer.ok) throw Error(Fault::kEnvironment, answer.fault);
    return answer.out;
  }

  std::string MergeBase() {
    prefix_ = Asked({"rev-parse", "--show-prefix"});
    const GitAnswer commit =
        git_.Ask({"rev-parse", "--verify", "--quiet", "--end-of-options", ref_ + "^{commit}"});
    if (!commit.ok)
      throw NotInClone("there is no commit " + Quoted(ref_) + " here",
                       "git fetch it, or name another", git_);
    const GitAnswer base = git_.Ask({"merge-base", commit.out, "HEAD"});
    if (!base.ok || base.out.empty()) {
      throw NotInClone("HEAD has no commit in common with " + Quoted(ref_), "name another", git_);
    }
    return base.out.substr(0, base.out.find('\n'));
  }

  // `path` in the scratch folder from the top of the repository; "" if it lies outside of it.
  std::string FromTop(const fs::path& path) const {
    const fs::path inside = path.lexically_normal().lexically_relative(git_.scratch());
    return inside.empty() || *inside.begin() == ".." ? "" : inside.generic_string();
  }

  // The same for what `path` is in the commit, its links followed: "" if it is not there, none if
  // it leads out of the repository, into another one too.
  std::optional<std::string> InCommit(const std::string& commit, const fs::path& path) {
    constexpr int kMostLinks = 16;
    fs::path whole = FromTop(path);
    for (int links = 0; links < kMostLinks && !whole.empty(); ++links) {
      fs::path seen, target;
      for (const fs::path& part : whole) {
        if (!target.empty()) {
          target /= part;
          continue;
        }
        if (part.empty() || part == ".") continue;
        seen /= part;
        const std::string at = seen.generic_string();
        const std::string entry = Asked({"ls-tree", "--full-tree", commit, "--", at});
        if (entry.empty()) return "";
        if (entry.starts_with("160000")) return std::nullopt;
        if (!entry.starts_with("120000")) continue;
        target =
            git_.scratch() / seen.parent_path() / Asked({"cat-file", "blob", commit + ":" + at});
      }
      if (target.empty()) return seen.empty() ? "." : seen.generic_string();
      whole = FromTop(target);
    }
    return std::nullopt;
  }

  // Where what `path` is in the commit lies now; none if it leads out of the repository.
  std::optional<fs::path> Brought(const std::string& commit, const fs::path& path) {
    const std::optional<std::string> inside = InCommit(commit, path);
    if (!inside) return std::nullopt;
    if (inside->empty()) return path;
    const GitAnswer brought = git_.Export(commit, *inside, git_.scratch());
    if (!brought.ok) throw Error(Fault::kEnvironment, brought.fault);
    return git_.scratch() / *inside;
  }

  // A file that the commit has, at its place also if that is a link.
  void BringFile(const std::string& commit, const fs::path& file) {
    const std::optional<fs::path> real = Brought(commit, file);
    const fs::path place = file.lexically_normal();
    std::error_code error;
    if (!real || *real == place || !fs::is_regular_file(*real, error)) return;
    fs::create_directories(place.parent_path(), error);
    fs::copy_file(*real, place, fs::copy_options::overwrite_existing, error);
    if (error) throw Error(Fault::kEnvironment, place.string() + ": " + error.message());
  }

  // What lies in the repository, by its place in the scratch folder; what does not, as it is.
  fs::path OfThen(const fs::path& path) {
    if (!path.is_absolute() || !FromTop(path).empty()) return path;
    const fs::path top = Asked({"rev-parse", "--show-toplevel"});
    const fs::path inside = fs::weakly_canonical(path.parent_path()).lexically_relative(top);
    if (inside.empty() || *inside.begin() == "..") return path;
    return (git_.scratch() / inside / path.filename()).lexically_normal();
  }

  // Where the baselines of then lie: beside the suite of then, unless a flag names their folder.
  fs::path BaselinesOf(const Suite& base) {
    const Suite& head = selection_.suite;
    if (selection_.baselines == head.folder / head.baselines) {
      return OfThen(base.folder / base.baselines);
    }
    return OfThen(fs::absolute(selection_.baselines));
  }

  // Brings the rule files that the suite of then names. One that it names by an absolute path is
  // the same for both where it lies outside of the repository.
  LoadOptions BringRules(const std::string& commit, const fs::path& suite, Review* review) {
    LoadOptions options{.torch_runner = TorchRunner(world_)};
    for (const fs::path& named : FilesNamedBy(suite).rules) {
      const fs::path rules = OfThen(named);
      if (!FromTop(rules).empty()) {
        BringFile(commit, rules);
        if (rules != named) options.moved_rules[named.lexically_normal().generic_string()] = rules;
      } else if (!named.generic_string().starts_with(git_.scratch().generic_string())) {
        review->notes.push_back(
            named.lexically_normal().generic_string() +
            " lies outside of the repository: it is read as it is now on both sides");
      }
    }
    return options;
  }

  void Compare(const std::string& commit, Review* review) {
    const fs::path file = git_.scratch() / prefix_ / selection_.suite.file.filename();
    BringFile(commit, file);
    if (!fs::exists(file)) {
      review->items.push_back({Effect::kAlters, selection_.suite.file.filename().generic_string(),
                               "the base has no such file: all that it declares is new, and "
                               "nothing is compared",
                               ""});
      return;
    }
    DeclaredState base, head;
    base.suite = LoadSuite(file, BringRules(commit, file, review));
    head.suite = selection_.suite;
    head.baselines_folder = selection_.baselines;
    ReadBaselines(commit, &base, &head, review);
    review->items = CompareStates(base, head);
    review->compared = true;
  }

  // Without them the rest is still compared.
  void ReadBaselines(const std::string& commit, DeclaredState* base, DeclaredState* head,
                     Review* review) {
    try {
      const std::optional<fs::path> folder = Brought(commit, BaselinesOf(base->suite));
      if (!folder) throw Error(Fault::kEnvironment, "they lie outside of the repository");
      base->baselines_folder = *folder;
      std::vector<Baseline> then = ListBaselines(base->baselines_folder);
      head->baselines = ListBaselines(head->baselines_folder);
      base->baselines = std::move(then);
    } catch (const Error& error) {
      review->problem = "the baselines are not compared: " + InBase(error.what());
    }
  }

  // One line, in which files of then have the names that they have in the repository.
  std::string InBase(std::string text) const {
    text = text.substr(0, text.find('\n'));
    const std::string folder = git_.scratch().string() + "/";
    for (size_t at; (at = text.find(folder)) != std::string::npos;) {
      text.replace(at, folder.size(), "base:");
    }
    return Printable(text);
  }

  const std::string ref_;
  const Selection& selection_;
  World& world_;
  Git git_;
  std::string prefix_;  // of the suite's folder, from the top of the repository
};

}  // namespace

Review ReviewAgainst(const std::string& ref, const Selection& selection, World& world) {
  try {
    return BaseReader(ref, selection, world).Read();
  } catch (const Error& error) {  // no folder for temporary files
    return {"", error.what(), {}};
  }
}

}  // namespace perfgate::cli
