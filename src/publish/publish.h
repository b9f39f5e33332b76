// One comment of perfgate in a pull request of GitHub: created once, updated from then on. The one
// door to libcurl.
//
// Whatever the network or the server says is data, never an exception: a report that cannot be
// posted is no reason for a build to fail.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace perfgate {

struct PullRequest {
  std::string repository;  // "owner/name"
  int64_t number = 0;
};

// What a job's event file says of its pull request.
struct JobEvent {
  std::optional<PullRequest> pull_request;
  bool from_fork = false;
  std::string head_sha;
  // Of a workflow_run: its pull request is the open one with this head.
  std::string repository, head_owner, head_branch;
  std::string run_url;       // of the workflow_run; else ""
  std::string none_because;  // not empty: the event has no pull request
};
// `name`: of the event ("pull_request"), for words only. Never throws: what is not there is none.
JobEvent ReadJobEvent(const Json& event, const std::string& name);

// "owner/name" as GitHub allows it.
bool IsRepositoryName(std::string_view text);

// Time as the caller has it.
struct Waiting {
  std::function<int64_t()> now_s;                   // Unix time
  std::function<bool(int64_t milliseconds)> sleep;  // false: interrupted, stop
  std::function<double()> random;                   // 0 to 1
};

struct GitHubAccess {
  std::string api_url;  // "https://api.github.com", "https://github.example/api/v3"
  std::string token;    // not empty; sent to the host of `api_url` alone, never part of a message
  Waiting waiting;
};

// The open pull request of a workflow_run's head. Says why in `problem` if there is none or more
// than one, or if it cannot be asked.
struct FoundPullRequest {
  std::optional<PullRequest> pull_request;
  std::string problem;
};
FoundPullRequest FindByHead(const GitHubAccess& access, const JobEvent& event);

struct StickyComment {
  std::string key;     // tells several comments of one pull request apart: letters, digits, `._-`
  std::string author;  // login; "": whoever the token belongs to
  std::string markdown;
  std::string footer;  // kept when the Markdown is cut; "" for none
};

// What is posted: a hidden marker, the Markdown and the footer, at most 60,000 bytes (GitHub
// refuses more than 65,536 characters). The Markdown is cut before a section, and says how many
// were left out.
std::string BodyOf(const StickyComment& comment);

enum class Posted { kCreated, kUpdated, kUnchanged, kFailed };

struct Posting {
  Posted posted = Posted::kFailed;
  std::string url;                 // of the comment; "" where none is there yet
  std::string problem;             // of kFailed
  std::vector<std::string> notes;  // what went wrong beside
};

// Updates the oldest comment with this key and author, removes younger ones, creates one if there
// is none. Two jobs that create at the same time end with one comment: each looks again after
// creating, and the older comment stays. `dry_run` only reads, and returns what would be done.
Posting PostComment(const GitHubAccess& access, const PullRequest& where,
                    const StickyComment& comment, bool dry_run);

}  // namespace perfgate
