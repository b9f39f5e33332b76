#include "publish/http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <type_traits>

#include "base/text.h"

namespace perfgate {
namespace {

constexpr long kConnectTimeoutS = 10, kTimeoutS = 30;
constexpr size_t kMostAnswerBytes = size_t{64} << 20;  // 100 comments of 65,536 characters fit

// One interface, by two TLS libraries; Debian's git brings the second one.
constexpr const char* kCurlNames[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

struct Curl {
  std::string missing;  // why it cannot be used; "" if it can
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
};

// Opened only to send: linked, it would bring 30 libraries into the start of every command. Never
// closed: what it began stays until the process ends.
Curl OpenCurl() {
  Curl curl;
  void* library = nullptr;
  for (const char* name : kCurlNames) {
    if ((library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) != nullptr) break;
    if (curl.missing.empty()) curl.missing = dlerror();
  }
  if (library == nullptr) {
    curl.missing = fmt::format(
        "libcurl cannot be opened ({}); install it (Debian, Ubuntu: apt-get install libcurl4)",
        curl.missing);
    return curl;
  }
  curl.missing.clear();
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr) curl.missing = fmt::format("this libcurl has no {}", name);
  };
  find(curl.easy_init, "curl_easy_init");
  find(curl.easy_cleanup, "curl_easy_cleanup");
  find(curl.easy_setopt, "curl_easy_setopt");
  find(curl.easy_perform, "curl_easy_perform");
  find(curl.easy_getinfo, "curl_easy_getinfo");
  find(curl.easy_strerror, "curl_easy_strerror");
  find(curl.slist_append, "curl_slist_append");
  find(curl.slist_free_all, "curl_slist_free_all");
  return curl;
}

size_t TakeBody(char* data, size_t size, size_t count, void* into) {
  auto& body = *static_cast<std::string*>(into);
  if (body.size() + size * count > kMostAnswerBytes) return 0;  // ends the transfer
  body.append(data, size * count);
  return size * count;
}

size_t TakeHeader(char* data, size_t size, size_t count, void* into) {
  auto& headers = *static_cast<std::map<std::string, std::string>*>(into);
  const std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) headers.clear();  // of a proxy, or of 100 Continue
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    headers[name] = Trim(line.substr(colon + 1));
  }
  return line.size();
}

using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

HeaderList ListOf(const std::map<std::string, std::string>& headers, const Curl& curl) {
  HeaderList list(nullptr, curl.slist_free_all);
  for (const auto& [name, value] : headers) {
    curl_slist* longer = curl.slist_append(list.get(), (name + ": " + value).c_str());
    if (longer == nullptr) break;  // no memory
    list.release();
    list.reset(longer);
  }
  return list;
}

void SetOptions(const HttpRequest& request, const Curl& curl, CURL* easy) {
  curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, kConnectTimeoutS);
  curl.easy_setopt(easy, CURLOPT_TIMEOUT, kTimeoutS);
  curl.easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (request.body.empty()) return;
  curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl.easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
}

}  // namespace

HttpResponse Send(const HttpRequest& request) {
  HttpResponse response;
  const Curl curl = OpenCurl();
  if (!curl.missing.empty()) {
    response.cannot_send = curl.missing;
    return response;
  }
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy(curl.easy_init(),
                                                                 curl.easy_cleanup);
  if (!easy) {
    response.cannot_send = "libcurl cannot be started";
    return response;
  }
  const HeaderList headers = ListOf(request.headers, curl);
  char why[CURL_ERROR_SIZE] = "";
  SetOptions(request, curl, easy.get());
  curl.easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, why);
  curl.easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
  curl.easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, TakeBody);
  curl.easy_setopt(easy.get(), CURLOPT_WRITEDATA, &response.body);
  curl.easy_setopt(easy.get(), CURLOPT_HEADERFUNCTION, TakeHeader);
  curl.easy_setopt(easy.get(), CURLOPT_HEADERDATA, &response.headers);
  const CURLcode code = curl.easy_perform(easy.get());
  if (code != CURLE_OK) {
    response.error = *why != '\0' ? why : curl.easy_strerror(code);
    return response;
  }
  long status = 0;
  curl.easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  return response;
}

}  // namespace perfgate
