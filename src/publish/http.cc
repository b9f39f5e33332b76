#include "publish/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "base/text.h"

namespace perfgate {
namespace {

constexpr long kConnectTimeoutS = 10, kTimeoutS = 30;
constexpr size_t kMostAnswerBytes = size_t{64} << 20;  // 100 comments of 65,536 characters fit

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

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

HeaderList ListOf(const std::map<std::string, std::string>& headers) {
  HeaderList list;
  for (const auto& [name, value] : headers) {
    curl_slist* longer = curl_slist_append(list.get(), (name + ": " + value).c_str());
    if (longer == nullptr) break;  // no memory
    list.release();
    list.reset(longer);
  }
  return list;
}

}  // namespace

HttpResponse Send(const HttpRequest& request) {
  HttpResponse response;
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  if (!curl) {
    response.error = "libcurl cannot be started";
    return response;
  }
  const HeaderList headers = ListOf(request.headers);
  char why[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, why);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnectTimeoutS);
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, kTimeoutS);
  curl_easy_setopt(curl.get(), CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, TakeBody);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &response.body);
  curl_easy_setopt(curl.get(), CURLOPT_HEADERFUNCTION, TakeHeader);
  curl_easy_setopt(curl.get(), CURLOPT_HEADERDATA, &response.headers);
  if (!request.body.empty()) {
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, request.body.c_str());
  }
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) {
    response.error = *why != '\0' ? why : curl_easy_strerror(code);
    return response;
  }
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  return response;
}

}  // namespace perfgate
