// `perfgate comment`: the verdict as one comment of the pull request. What the network says never
// decides the exit code.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/evidence_source.h"
#include "cli/judging.h"
#include "cli/select.h"
#include "publish/publish.h"

namespace perfgate::cli {
namespace {

constexpr int64_t kMostInputBytes = int64_t{64} << 20;
// Of an artifact that a fork wrote.
constexpr int64_t kMostUntrustedBytes = int64_t{16} << 20;
constexpr size_t kMostUntrustedText = size_t{16} << 10, kMostUntrustedItems = 10'000,
                 kMostUntrustedInAll = 1'000'000;

// The word of the caller: a verdict of perfgate, or the conclusion of a workflow run.
Result ResultNamed(const std::string& word) {
  for (const Result result : {Result::kPass, Result::kFail, Result::kError, Result::kInconclusive,
                              Result::kNotComparable}) {
    if (word == ToString(result)) return result;
  }
  if (word == "success") return Result::kPass;
  if (word == "failure") return Result::kFail;
  for (const std::string_view other : {"action_required", "cancelled", "neutral", "skipped",
                                       "stale", "startup_failure", "timed_out"}) {
    if (word == other) return Result::kError;
  }
  throw Error(Fault::kUsage,
              fmt::format("--verdict {}: it takes pass, fail, error, inconclusive, not_comparable "
                          "or the conclusion of a workflow run (success, failure, ...)",
                          Printable(word)));
}

// `in_all`: the items and members of what was checked before, which these are added to.
void CheckSizes(const Json& json, size_t* in_all) {
  if (json.IsString() && json.AsString().size() > kMostUntrustedText) {
    throw Error(Fault::kInput, fmt::format("a text has {} bytes, at most {} are taken of a fork",
                                           json.AsString().size(), kMostUntrustedText));
  }
  if (json.IsArray()) {
    if (json.AsArray().size() > kMostUntrustedItems) {
      throw Error(Fault::kInput, fmt::format("a list has {} items, at most {} are taken of a fork",
                                             json.AsArray().size(), kMostUntrustedItems));
    }
    *in_all += json.AsArray().size();
    for (const Json& item : json.AsArray()) CheckSizes(item, in_all);
  }
  if (json.IsObject()) {
    *in_all += json.AsObject().size();
    for (const auto& [key, value] : json.AsObject()) CheckSizes(value, in_all);
  }
  if (*in_all > kMostUntrustedInAll) {
    throw Error(Fault::kInput, fmt::format("more than {} items and members in all, which is more "
                                           "than is taken of a fork",
                                           kMostUntrustedInAll));
  }
}

// One line that may quote a hostile file: GitHub's runner obeys `##[name]` anywhere in a log.
std::string ForALog(std::string_view text) {
  std::string line = Printable(text);
  for (size_t at; (at = line.find("##[")) != std::string::npos;) line.insert(at + 2, " ");
  return line;
}

Verdict ReadVerdict(const CommentArgs& args) {
  const std::string text =
      ReadFile(args.source, args.untrusted ? kMostUntrustedBytes : kMostInputBytes);
  try {
    const Json json = ParseJson(text, "JSON");
    size_t in_all = 0;
    if (args.untrusted) CheckSizes(json, &in_all);
    return VerdictFromJson(json);
  } catch (const Error& error) {
    throw Error(Fault::kInput,
                fmt::format("{}: no verdict: {}", args.source, ForALog(error.what())));
  }
}

// Nothing of it is a command to type, and its verdict is the caller's.
std::string UntrustedMarkdown(const CommentArgs& args) {
  Verdict verdict = ReadVerdict(args);
  const Result told = ResultNamed(args.verdict);
  std::string note =
      "> [!NOTE]\n> Measured by a job without this repository's secrets, as for a fork. The "
      "verdict "
      "is that job's conclusion; the rest is as the job wrote it.\n";
  if (told != verdict.result) {
    note +=
        fmt::format("> **The two do not agree:** the job's conclusion is {}, its report says {}.\n",
                    args.verdict, ToString(verdict.result));
  }
  verdict.result = told;
  for (CaseVerdict& item : verdict.cases) {
    for (Finding& finding : item.findings) finding.next.clear();
  }
  return note + "\n" + VerdictAsMarkdown(verdict);
}

std::string MarkdownFor(const CommentArgs& args, World& world) {
  if (args.untrusted) return UntrustedMarkdown(args);
  if (args.source.empty()) {
    const Selection selection = Select(args.suite, world);
    return VerdictAsMarkdown(
        JudgeRun(selection, FindStoredRun(selection.database, ""), world).verdict);
  }
  if (args.source.ends_with(".md")) return ReadFile(args.source, kMostInputBytes);
  return VerdictAsMarkdown(ReadVerdict(args));
}

bool IsKey(std::string_view key) {
  return !key.empty() && key.size() <= 64 && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

void CheckArguments(const CommentArgs& args) {
  const auto refuse = [](const std::string& why) { throw Error(Fault::kUsage, why); };
  // "--" would end a comment of HTML in some readers.
  if (!IsKey(args.key) || args.key.find("--") != std::string::npos) {
    refuse("--key: it takes up to 64 letters, digits, `.`, `_` and single `-`");
  }
  if (!args.repository.empty() && !IsRepositoryName(args.repository)) {
    refuse(fmt::format("--repo {}: it takes OWNER/NAME", Printable(args.repository)));
  }
  if (args.number < 0) refuse("--pr: it takes the number of a pull request");
  if (!args.repository.empty() && args.number == 0) refuse("--repo needs --pr");
  if (args.untrusted != !args.verdict.empty()) refuse("--untrusted and --verdict go together");
  if (args.untrusted && !args.source.ends_with(".json")) {
    refuse(
        "--untrusted takes a verdict as JSON (FILE.json): text of a fork is not posted as it is");
  }
  if (args.untrusted) ResultNamed(args.verdict);
  if (!args.source.empty() && !args.source.ends_with(".json") && !args.source.ends_with(".md")) {
    refuse(fmt::format("{}: it takes a verdict (FILE.json) or Markdown (FILE.md)",
                       Printable(args.source)));
  }
}

JobEvent EventOf(const CommentArgs& args, World& world) {
  JobEvent event;
  const std::string path = world.Getenv("GITHUB_EVENT_PATH");
  if (!path.empty()) {
    event = ReadJobEvent(ParseJson(ReadFile(path, kMostInputBytes), path),
                         world.Getenv("GITHUB_EVENT_NAME"));
  } else {
    event.none_because = "GITHUB_EVENT_PATH is not set: name the pull request with --repo and --pr";
  }
  if (args.number == 0) return event;
  const std::string repository =
      args.repository.empty() ? world.Getenv("GITHUB_REPOSITORY") : args.repository;
  if (!IsRepositoryName(repository)) throw Error(Fault::kUsage, "--pr needs --repo OWNER/NAME");
  event.pull_request = PullRequest{repository, args.number};
  event.none_because.clear();
  return event;
}

bool IsPlainUrl(std::string_view url) {
  return url.starts_with("http") && std::all_of(url.begin(), url.end(), [](char c) {
           return c > ' ' && c < '\x7f' && c != '(' && c != ')' && c != '<' && c != '>';
         });
}

// Which commit and which run the comment is of, so that a stale one is seen.
std::string FooterOf(const JobEvent& event, World& world) {
  std::vector<std::string> parts;
  if (!event.head_sha.empty()) parts.push_back("commit " + event.head_sha.substr(0, 7));
  std::string url = event.run_url;
  const std::string run = world.Getenv("GITHUB_RUN_ID");
  if (url.empty() && !run.empty()) {
    url = fmt::format("{}/{}/actions/runs/{}/attempts/{}", world.Getenv("GITHUB_SERVER_URL"),
                      world.Getenv("GITHUB_REPOSITORY"), run, world.Getenv("GITHUB_RUN_ATTEMPT"));
  }
  if (IsPlainUrl(url)) parts.push_back(fmt::format("[the job that measured]({})", url));
  parts.emplace_back("perfgate " PERFGATE_VERSION);
  return fmt::format("\n<sub>{}</sub>\n", Join(parts, " · "));
}

// "" without one, and for one that would break a header.
std::string TokenOf(World& world) {
  std::string token(Trim(world.Getenv("GITHUB_TOKEN")));
  if (token.empty()) token = Trim(world.Getenv("GH_TOKEN"));
  const bool plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  return plain ? token : "";
}

int64_t UnixTime(const std::string& utc) {
  std::tm parts{};
  ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return ::timegm(&parts);
}

GitHubAccess AccessOf(World& world) {
  std::string url = world.Getenv("GITHUB_API_URL");
  if (url.empty()) url = "https://api.github.com";
  while (url.ends_with('/')) url.pop_back();
  if (!url.starts_with("https://") && !url.starts_with("http://")) {
    throw Error(Fault::kUsage, fmt::format("GITHUB_API_URL: {} is no address", Printable(url)));
  }
  Waiting waiting;
  waiting.now_s = [&world] { return UnixTime(world.UtcNow()); };
  waiting.sleep = [&world](int64_t milliseconds) {
    world.SleepFor(milliseconds * 1'000'000);
    return world.Interrupted() == 0;
  };
  waiting.random = [&world] { return static_cast<double>(world.RandomSeed() % 1000) / 1000; };
  return {url, TokenOf(world), waiting};
}

void Warn(const std::string& what, World& world) {
  world.Err() << "perfgate: warning: " << what << std::endl;
}

// What could not be posted stands in the log at least.
int PrintInstead(const std::string& why, const std::string& body, World& world) {
  Warn(why + "; here is what it says", world);
  world.Out() << body;
  const int signal = world.Interrupted();
  return signal == 0 ? 0 : 128 + signal;
}

std::string_view Done(Posted posted) {
  switch (posted) {
    case Posted::kCreated:
      return "created";
    case Posted::kUpdated:
      return "updated";
    case Posted::kUnchanged:
      return "unchanged";
    case Posted::kFailed:
      return "failed";
  }
  return "";
}

std::string_view Planned(Posted posted) {
  switch (posted) {
    case Posted::kCreated:
      return "would create a comment in";
    case Posted::kUpdated:
      return "would update the comment in";
    default:
      return "would leave the comment as it is in";
  }
}

int PostOrSay(const CommentArgs& args, const GitHubAccess& access, const PullRequest& where,
              const StickyComment& comment, World& world) {
  const Posting posting = PostComment(access, where, comment, args.dry_run);
  for (const std::string& note : posting.notes) Warn(note, world);
  if (posting.posted == Posted::kFailed) {
    return PrintInstead("the comment could not be posted: " + posting.problem, BodyOf(comment),
                        world);
  }
  if (args.dry_run) {
    world.Out() << fmt::format("{} {}#{}\n{}", Planned(posting.posted), where.repository,
                               where.number, BodyOf(comment));
  } else {
    world.Out() << fmt::format("{} {}\n", Done(posting.posted), Printable(posting.url));
  }
  return 0;
}

}  // namespace

int Comment(const CommentArgs& args, World& world) {
  CheckArguments(args);
  JobEvent event = EventOf(args, world);
  const GitHubAccess access = AccessOf(world);
  const StickyComment comment{args.key, args.author, MarkdownFor(args, world),
                              FooterOf(event, world)};
  if (!event.none_because.empty()) {
    world.Err() << "perfgate: no comment: " << event.none_because << std::endl;
    if (args.dry_run) world.Out() << BodyOf(comment);
    return 0;
  }
  if (access.token.empty()) {
    return PrintInstead("no comment is posted: GITHUB_TOKEN and GH_TOKEN hold no token",
                        BodyOf(comment), world);
  }
  if (!event.pull_request) {
    const FoundPullRequest found = FindByHead(access, event);
    if (!found.pull_request) {
      return PrintInstead("no comment is posted: " + found.problem, BodyOf(comment), world);
    }
    event.pull_request = found.pull_request;
  }
  return PostOrSay(args, access, *event.pull_request, comment, world);
}

}  // namespace perfgate::cli
