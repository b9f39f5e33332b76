// The event file of GitHub Actions: which pull request is this job for?
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "publish/publish.h"

namespace perfgate {
namespace {

// The text at `path`, "" if it is not there.
std::string TextAt(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* at = &json;
  for (const std::string_view key : path) {
    at = at->Find(key);
    if (at == nullptr) return "";
  }
  return at->IsString() ? at->AsString() : "";
}

bool IsNamePart(std::string_view text) {
  return !text.empty() && text.size() <= 100 && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

bool IsRepositoryName(std::string_view text) {
  const size_t slash = text.find('/');
  return slash != std::string_view::npos && IsNamePart(text.substr(0, slash)) &&
         IsNamePart(text.substr(slash + 1));
}

JobEvent ReadJobEvent(const Json& event, const std::string& name) {
  JobEvent read;
  read.repository = TextAt(event, {"repository", "full_name"});
  if (!IsRepositoryName(read.repository)) {
    read.none_because = "the event file names no repository";
    return read;
  }
  if (const Json* pull = event.Find("pull_request")) {
    const Json* number = pull->Find("number");
    if (number != nullptr && number->IsInt() && number->AsInt() > 0) {
      read.pull_request = PullRequest{read.repository, number->AsInt()};
      read.head_sha = TextAt(*pull, {"head", "sha"});
      read.from_fork = TextAt(*pull, {"head", "repo", "full_name"}) != read.repository;
      return read;
    }
  }
  if (const Json* run = event.Find("workflow_run")) {
    read.head_owner = TextAt(*run, {"head_repository", "owner", "login"});
    read.head_branch = TextAt(*run, {"head_branch"});
    read.head_sha = TextAt(*run, {"head_sha"});
    read.run_url = TextAt(*run, {"html_url"});
    const std::string cause = TextAt(*run, {"event"});
    if (!cause.starts_with("pull_request")) {
      read.none_because = fmt::format("the workflow run was started by {}, not by a pull request",
                                      cause.empty() ? "something else" : Printable(cause));
    } else if (read.head_owner.empty() || read.head_branch.empty() || read.head_sha.empty()) {
      read.none_because = "the workflow run has no head: its fork or branch is gone";
    }
    return read;
  }
  read.none_because = fmt::format("the event {} has no pull request",
                                  name.empty() ? "of this job" : "`" + Printable(name) + "`");
  return read;
}

}  // namespace perfgate
