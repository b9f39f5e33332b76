// One comment a key: found, created, updated, and made one again after a race.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "publish/github.h"
#include "publish/sections.h"

namespace perfgate {
namespace {

constexpr size_t kMostBodyBytes = 60'000;

struct OwnComment {
  int64_t id = 0;
  std::string body, url;
};

std::string TextOf(const Json& json, std::string_view key) {
  const Json* text = json.Find(key);
  return text != nullptr && text->IsString() ? text->AsString() : "";
}

OwnComment CommentIn(const Json& json) {
  const Json* id = json.Find("id");
  return {id != nullptr && id->IsInt() ? id->AsInt() : 0, TextOf(json, "body"),
          TextOf(json, "html_url")};
}

// Hidden, and all that a comment is found by, with its author.
std::string MarkerOf(const StickyComment& comment) {
  return fmt::format("<!-- perfgate:v1 key={} -->", comment.key);
}

// Logins know no case. "[bot]" is part of one: a person may have the name of an app.
std::string Folded(std::string login) {
  std::transform(login.begin(), login.end(), login.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return login;
}

class Poster {
 public:
  Poster(const GitHubAccess& access, const PullRequest& where, const StickyComment& comment)
      : github_(access),
        where_(where),
        marker_(MarkerOf(comment)),
        body_(BodyOf(comment)),
        author_(comment.author) {}

  Posting Post(bool dry_run) {
    std::vector<OwnComment> own;
    if (!FindAuthor() || !FindOwn(&own)) return posting_;
    std::optional<int64_t> created;
    if (own.empty()) {
      posting_.posted = Posted::kCreated;
      if (dry_run) return posting_;
      created = Create();
      if (!created || !FindOwn(&own) || own.empty()) return posting_;
    }
    const OwnComment& oldest = own.front();
    posting_.url = oldest.url;
    if (created != oldest.id) Update(oldest, dry_run);
    if (dry_run || posting_.posted == Posted::kFailed) return posting_;
    for (size_t i = 1; i < own.size(); ++i) Remove(own[i]);
    return posting_;
  }

 private:
  void Fail(const std::string& problem) {
    posting_.posted = Posted::kFailed;
    posting_.problem = problem;
  }

  bool FindAuthor() {
    if (!author_.empty()) return true;
    const Reply reply = github_.Login();
    if (!reply.problem.empty()) {
      Fail(reply.problem);
      return false;
    }
    author_ = reply.json.AsString();
    return true;
  }

  // The comments of this key and author, oldest first. After creating, a failure is only a note.
  bool FindOwn(std::vector<OwnComment>* own) {
    const Reply reply = github_.List(
        fmt::format("/repos/{}/issues/{}/comments?per_page=100", where_.repository, where_.number));
    if (!reply.problem.empty()) {
      if (posting_.posted == Posted::kCreated) {
        posting_.notes.push_back("whether another job commented at the same time is not known: " +
                                 reply.problem);
      } else {
        Fail(reply.problem);
      }
      return false;
    }
    for (const Json& json : reply.json.AsArray()) {
      const Json* user = json.Find("user");
      OwnComment comment = CommentIn(json);
      if (comment.id <= 0 || user == nullptr || Folded(TextOf(*user, "login")) != Folded(author_)) {
        continue;
      }
      if (comment.body.starts_with(marker_)) own->push_back(std::move(comment));
    }
    std::sort(own->begin(), own->end(),
              [](const OwnComment& a, const OwnComment& b) { return a.id < b.id; });
    return true;
  }

  std::optional<int64_t> Create() {
    const Reply reply = github_.Call(
        "POST", fmt::format("/repos/{}/issues/{}/comments", where_.repository, where_.number),
        Body());
    if (!reply.problem.empty()) {
      Fail(reply.problem);
      return {};
    }
    const OwnComment comment = CommentIn(reply.json);
    posting_.url = comment.url;
    return comment.id;
  }

  void Update(const OwnComment& comment, bool dry_run) {
    // The server ends lines with CR LF once a person has edited the comment.
    const bool same = Trim(comment.body) == Trim(body_);
    posting_.posted = same ? Posted::kUnchanged : Posted::kUpdated;
    if (same || dry_run) return;
    const Reply reply = github_.Call("PATCH", PathOf(comment), Body());
    if (!reply.problem.empty()) Fail(reply.problem);
  }

  void Remove(const OwnComment& comment) {
    const Reply reply = github_.Call("DELETE", PathOf(comment));
    if (reply.problem.empty() || reply.status == 404) return;  // the other job removed it
    posting_.notes.push_back(
        fmt::format("a second comment, {}, could not be removed: {}", comment.id, reply.problem));
  }

  std::string PathOf(const OwnComment& comment) const {
    return fmt::format("/repos/{}/issues/comments/{}", where_.repository, comment.id);
  }
  Json Body() const { return Json(Json::Object{{"body", Json(body_)}}); }

  GitHub github_;
  const PullRequest& where_;
  const std::string marker_, body_;
  std::string author_;
  Posting posting_;
};

// Percent-encoded for a query (RFC 3986): a branch may have any name.
std::string Encoded(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string HeadShaOf(const Json& pull) {
  const Json* head = pull.Find("head");
  return head == nullptr ? "" : TextOf(*head, "sha");
}

}  // namespace

std::string BodyOf(const StickyComment& comment) {
  const std::string marker = MarkerOf(comment) + "\n";
  const size_t around = marker.size() + comment.footer.size();
  return marker + CutAtSections(comment.markdown, kMostBodyBytes - around) + comment.footer;
}

Posting PostComment(const GitHubAccess& access, const PullRequest& where,
                    const StickyComment& comment, bool dry_run) {
  return Poster(access, where, comment).Post(dry_run);
}

FoundPullRequest FindByHead(const GitHubAccess& access, const JobEvent& event) {
  FoundPullRequest found;
  const Reply reply = GitHub(access).List(
      fmt::format("/repos/{}/pulls?state=open&head={}:{}&per_page=100", event.repository,
                  Encoded(event.head_owner), Encoded(event.head_branch)));
  if (!reply.problem.empty()) {
    found.problem = reply.problem;
    return found;
  }
  int matching = 0;
  for (const Json& pull : reply.json.AsArray()) {
    const Json* number = pull.Find("number");
    if (HeadShaOf(pull) != event.head_sha || number == nullptr || !number->IsInt()) continue;
    ++matching;
    found.pull_request = PullRequest{event.repository, number->AsInt()};
  }
  if (matching == 1) return found;
  found.pull_request.reset();
  found.problem =
      matching == 0 ? fmt::format("no open pull request has the head {} any more",
                                  Shorten(Printable(event.head_sha), 40))
                    : fmt::format("{} pull requests have this head: name one with --pr", matching);
  return found;
}

}  // namespace perfgate
