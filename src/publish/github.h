// Calls of GitHub's REST interface, with its paging, its limits and bounded patience.
#pragma once

#include <string>
#include <vector>

#include "publish/http.h"
#include "publish/publish.h"

namespace perfgate {

struct Reply {
  Json json;            // null where the answer has no body
  std::string problem;  // not empty: the call failed, and why
  int status = 0;
  std::string next;  // address of the next page, "" at the last
};

// How long to wait before the same request is sent again, in milliseconds; nothing if that would
// not help. `failures` counts from 1. By docs.github.com/rest/using-the-rest-api/
// rate-limits-for-the-rest-api: Retry-After, else x-ratelimit-reset where nothing remains, else a
// minute and more for a secondary limit; server errors and lost connections sooner.
std::optional<int64_t> WaitBeforeRetry(const HttpResponse& response, int failures,
                                       const Waiting& waiting);

class GitHub {
 public:
  explicit GitHub(const GitHubAccess& access) : access_(access) {}

  // `path` begins with "/" and is below the interface's address, or is a whole address on its host.
  Reply Call(const std::string& method, const std::string& path, const Json& body = {});
  // All elements of a list that may have several pages, in `json`.
  Reply List(const std::string& path);
  // The login that the token belongs to, in `json`.
  Reply Login();

 private:
  HttpResponse SendPatiently(const HttpRequest& request, std::string* gave_up);
  std::string Explain(const HttpResponse& response) const;

  const GitHubAccess& access_;
  int64_t waited_ms_ = 0;  // over all calls
};

}  // namespace perfgate
