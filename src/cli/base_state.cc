#include "cli/base_state.h"

#include <fmt/format.h>

#include <algorithm>

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

  // `path` from the top of the repository; "" if it lies outside of it.
  std::string FromTop(const fs::path& path) const {
    const std::string inside =
        path.lexically_normal().lexically_relative(git_.scratch()).generic_string();
    return inside.starts_with("..") ? "" : inside;
  }

  // Brings those of `paths` that the commit has.
  void Bring(const std::string& commit, const std::vector<fs::path>& paths) {
    std::vector<std::string> there;
    for (const fs::path& path : paths) {
      const std::string inside = FromTop(path);
      if (inside.empty() ||
          Asked({"ls-tree", "--full-tree", "--name-only", commit, "--", inside}).empty()) {
        continue;
      }
      there.push_back(inside);
    }
    if (there.empty()) return;
    const GitAnswer brought = git_.Export(commit, there, git_.scratch());
    if (!brought.ok) throw Error(Fault::kEnvironment, brought.fault);
  }

  // Where the baselines of then lie: beside the suite of then, unless a flag names their folder.
  fs::path BaselinesOf(const Suite& base) {
    const Suite& head = selection_.suite;
    if (selection_.baselines == head.folder / head.baselines) return base.folder / base.baselines;
    const fs::path top = Asked({"rev-parse", "--show-toplevel"});
    return git_.scratch() / fs::weakly_canonical(selection_.baselines).lexically_relative(top);
  }

  void Compare(const std::string& commit, Review* review) {
    const fs::path file = git_.scratch() / prefix_ / selection_.suite.file.filename();
    Bring(commit, {file});
    if (!fs::exists(file)) {
      review->items.push_back({Effect::kAlters, selection_.suite.file.filename().generic_string(),
                               "the base has no such file: all that it declares is new, and "
                               "nothing is compared",
                               ""});
      return;
    }
    Bring(commit, FilesNamedBy(file).rules);
    DeclaredState base, head;
    base.suite = LoadSuite(file, {.torch_runner = TorchRunner(world_)});
    head.suite = selection_.suite;
    base.baselines_folder = BaselinesOf(base.suite);
    head.baselines_folder = selection_.baselines;
    ReadBaselines(commit, &base, &head, review);
    review->items = CompareStates(base, head);
  }

  // Without them the rest is still compared.
  void ReadBaselines(const std::string& commit, DeclaredState* base, DeclaredState* head,
                     Review* review) {
    if (FromTop(base->baselines_folder).empty()) {
      review->problem = "the baselines lie outside of the repository, and are not compared";
      return;
    }
    Bring(commit, {base->baselines_folder});
    try {
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
