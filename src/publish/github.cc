#include "publish/github.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace perfgate {
namespace {

constexpr int kMostAttempts = 5, kMostRedirects = 3, kMostPages = 50;
constexpr int64_t kMostWaitingMs = 180'000;  // of one posting
constexpr int64_t kSecondaryLimitMs = 60'000;

// "" if it is not there.
std::string Header(const HttpResponse& response, const std::string& name) {
  const auto found = response.headers.find(name);
  return found == response.headers.end() ? "" : found->second;
}

std::optional<int64_t> SecondsIn(const std::string& text) {
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0) return {};
  return std::min(seconds, int64_t{1} << 40);
}

bool IsLimited(const HttpResponse& response) {
  if (response.status == 429) return true;
  return response.status == 403 && (!Header(response, "retry-after").empty() ||
                                    Header(response, "x-ratelimit-remaining") == "0" ||
                                    response.body.find("rate limit") != std::string::npos);
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 307 || status == 308;
}

// "https://host:port" of an address.
std::string OriginOf(const std::string& url) {
  const size_t host = url.find("://");
  return host == std::string::npos ? "" : url.substr(0, url.find('/', host + 3));
}

// The address with rel="next" of a Link header: <https://...?page=2>; rel="next", <...>; rel="last"
std::string NextOf(const std::string& link) {
  for (const std::string& part : Split(link, ',')) {
    const size_t begin = part.find('<'), end = part.find('>');
    if (begin == std::string::npos || end == std::string::npos || end < begin) continue;
    if (part.find("rel=\"next\"", end) == std::string::npos) continue;
    return part.substr(begin + 1, end - begin - 1);
  }
  return "";
}

// Nothing if it is no JSON: a proxy's page, an answer that was cut off.
std::optional<Json> JsonIn(const std::string& text) {
  if (Trim(text).empty()) return Json();
  try {
    return ParseJson(text, "answer");
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::optional<int64_t> WaitBeforeRetry(const HttpResponse& response, int failures,
                                       const Waiting& waiting) {
  if (!response.cannot_send.empty()) return {};
  const int64_t doubled = int64_t{1} << (failures - 1);
  const auto jitter_ms = static_cast<int64_t>(waiting.random() * 1000);
  const bool limited = IsLimited(response);
  if (response.status != 0 && response.status < 500 && !limited) return {};
  if (const auto seconds = SecondsIn(Header(response, "retry-after"))) {
    return *seconds * 1000 + jitter_ms;
  }
  if (!limited) return doubled * 1000 + jitter_ms;
  if (Header(response, "x-ratelimit-remaining") == "0") {
    if (const auto reset = SecondsIn(Header(response, "x-ratelimit-reset"))) {
      return std::max<int64_t>(*reset - waiting.now_s(), 0) * 1000 + 1000 + jitter_ms;
    }
  }
  return doubled * kSecondaryLimitMs + jitter_ms;
}

HttpResponse GitHub::SendPatiently(const HttpRequest& request, std::string* gave_up) {
  for (int failures = 1;; ++failures) {
    HttpResponse response = Send(request);
    const std::optional<int64_t> wait = WaitBeforeRetry(response, failures, access_.waiting);
    if (!wait) return response;
    if (failures == kMostAttempts) {
      *gave_up = fmt::format("; tried {} times", failures);
      return response;
    }
    if (waited_ms_ + *wait > kMostWaitingMs) {
      *gave_up = fmt::format("; trying again would mean to wait for {} s", *wait / 1000);
      return response;
    }
    waited_ms_ += *wait;
    if (!access_.waiting.sleep(*wait)) {
      *gave_up = "; interrupted";
      return response;
    }
  }
}

std::string GitHub::Explain(const HttpResponse& response) const {
  if (!response.cannot_send.empty()) return Printable(response.cannot_send);
  if (response.status == 0) return "no answer: " + Printable(response.error);
  std::string said;
  const std::optional<Json> json = JsonIn(response.body);
  if (const Json* message = json ? json->Find("message") : nullptr) {
    if (message->IsString()) said = message->AsString();
  }
  // A server that repeats what it was sent must not bring the token into a log.
  for (size_t at; (at = said.find(access_.token)) != std::string::npos;) {
    said.replace(at, access_.token.size(), "***");
  }
  if (!said.empty()) said = ": " + Shorten(Printable(said), 200);
  const std::string text = fmt::format("the server answered {}{}", response.status, said);
  if (response.status == 401) return text + " (is the token valid?)";
  if (IsLimited(response)) return text + " (a rate limit)";
  if (response.status == 403) {
    return text +
           " (the job needs `permissions: pull-requests: write`, which a job for a pull "
           "request from a fork never gets)";
  }
  if (response.status == 404) {
    return text + " (no such repository or pull request, or the token may not see it)";
  }
  return text;
}

Reply GitHub::Call(const std::string& method, const std::string& path, const Json& body) {
  const std::string origin = OriginOf(access_.api_url);
  HttpRequest request{method, path.starts_with("/") ? access_.api_url + path : path, {}, {}};
  request.headers = {{"Accept", "application/vnd.github+json"},
                     {"Authorization", "Bearer " + access_.token},
                     {"Content-Type", "application/json"},
                     {"User-Agent", "perfgate/" PERFGATE_VERSION},
                     {"X-GitHub-Api-Version", "2022-11-28"}};
  if (!body.IsNull()) request.body = WriteJson(body, 0);
  Reply reply;
  for (int redirects = 0;; ++redirects) {
    if (OriginOf(request.url) != origin) {
      reply.problem = "the server points to another host, which the token is not for";
      return reply;
    }
    std::string gave_up;
    const HttpResponse response = SendPatiently(request, &gave_up);
    reply.status = response.status;
    if (IsRedirect(response.status) && redirects < kMostRedirects) {
      const std::string location = Header(response, "location");
      request.url = location.starts_with("/") ? origin + location : location;
      continue;
    }
    if (response.status < 200 || response.status >= 300) {
      reply.problem = Explain(response) + gave_up;
      return reply;
    }
    std::optional<Json> json = JsonIn(response.body);
    if (!json) {
      reply.problem = "the server's answer is no JSON";
      return reply;
    }
    reply.json = std::move(*json);
    reply.next = NextOf(Header(response, "link"));
    return reply;
  }
}

Reply GitHub::List(const std::string& path) {
  Reply all;
  Json::Array elements;
  std::string next = path;
  for (int page = 0; !next.empty(); ++page) {
    if (page == kMostPages) {
      all.problem = fmt::format("the list has more than {} pages", kMostPages);
      return all;
    }
    Reply reply = Call("GET", next);
    if (!reply.problem.empty()) return reply;
    if (!reply.json.IsArray()) {
      all.problem = "the server's answer is no list";
      return all;
    }
    for (const Json& element : reply.json.AsArray()) elements.push_back(element);
    next = reply.next;
  }
  all.json = Json(std::move(elements));
  return all;
}

// The REST interface does not tell a workflow's token who it is; GraphQL does.
Reply GitHub::Login() {
  std::string graphql = access_.api_url;
  if (graphql.ends_with("/v3"))
    graphql.resize(graphql.size() - 3);  // of a GitHub Enterprise Server
  graphql += "/graphql";
  Reply reply =
      Call("POST", graphql, Json(Json::Object{{"query", Json("query { viewer { login } }")}}));
  if (!reply.problem.empty()) return reply;
  const Json* data = reply.json.Find("data");
  const Json* viewer = data != nullptr ? data->Find("viewer") : nullptr;
  const Json* login = viewer != nullptr ? viewer->Find("login") : nullptr;
  if (login == nullptr || !login->IsString()) {
    reply.problem = "the server does not say whom the token belongs to: name it with --author";
  } else {
    reply.json = Json(login->AsString());
  }
  return reply;
}

}  // namespace perfgate
