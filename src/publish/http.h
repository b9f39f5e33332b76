// One HTTP exchange. Redirects are not followed: the caller decides where a token may go.
#pragma once

#include <map>
#include <string>

namespace perfgate {

struct HttpRequest {
  std::string method;  // GET, POST, PATCH, DELETE
  std::string url;
  std::map<std::string, std::string> headers;
  std::string body;
};

struct HttpResponse {
  int status = 0;                              // 0: no answer, see `error`
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::string error;
  std::string cannot_send;  // not empty: nothing was sent, and why nothing can be
};

// By libcurl, which is opened at run time; proxies as it takes them from the environment
// (https_proxy, no_proxy ...). Gives up after 30 s, and on an answer above 64 MiB.
HttpResponse Send(const HttpRequest& request);

}  // namespace perfgate
