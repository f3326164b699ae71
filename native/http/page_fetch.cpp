#include "native/http/page_fetch.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/format.hpp"
#include "core/base/text.hpp"
#include "core/deploy/page_links.hpp"
#include "core/deploy/url.hpp"
#include "native/os/resource_limits.hpp"

namespace driftscope {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Sizes that a server may claim; more is a lie, and could overflow sums.
constexpr std::int64_t largest_claim = std::int64_t{1} << 50;
constexpr int first_redirect = 300;
constexpr int last_redirect = 399;

bool is_text(PageRole role) {
  return role == PageRole::page || role == PageRole::script || role == PageRole::module;
}

Result<std::unique_ptr<httplib::ClientImpl>> client_for(const Url& url, milliseconds timeout) {
  std::unique_ptr<httplib::ClientImpl> client;
  if (url.scheme == "http") {
    client = std::make_unique<httplib::ClientImpl>(url.host, url.port);
  } else {
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
    client = std::make_unique<httplib::SSLClient>(url.host, url.port);
#else
    return missing_error("this build's HTTP library has no TLS: only http:// can be fetched");
#endif
  }
  client->set_connection_timeout(timeout);
  client->set_read_timeout(timeout);
  client->set_write_timeout(timeout);
  client->set_follow_location(false);
  client->set_decompress(true);  // of texts; of other files only the headers are read
  client->set_url_encode(false);
  return client;
}

std::string failure_text(httplib::Error error, bool timed_out, milliseconds timeout) {
  if (timed_out || error == httplib::Error::ConnectionTimeout)
    return fmt::format("no whole answer within {} ms", timeout.count());
  switch (error) {
    case httplib::Error::Connection: return "no connection: nothing listens there, or the name is unknown";
    case httplib::Error::Read: return "the answer ended early, or is not HTTP";
    case httplib::Error::SSLConnection: return "TLS failed: the server speaks no https there";
    case httplib::Error::SSLServerVerification:
    case httplib::Error::SSLLoadingCerts:
      return "its certificate is not valid for this name here: browsers show a warning instead of the page";
    default: return "HTTP failed (" + httplib::to_string(error) + ")";
  }
}

std::optional<std::int64_t> claimed_bytes(std::string_view length) {
  std::int64_t bytes = 0;
  const char* const end = length.data() + length.size();
  const auto read = std::from_chars(length.data(), end, bytes);
  if (length.empty() || read.ec != std::errc() || read.ptr != end || bytes < 0 || bytes > largest_claim)
    return std::nullopt;
  return bytes;
}

void keep_headers(const httplib::Headers& headers, PageFile& file) {
  for (const auto& [name, value] : headers) {
    std::string key = name;
    std::ranges::transform(key, key.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    std::string& kept = file.headers[key];
    kept += (kept.empty() ? "" : ", ") + value;  // RFC 9110, 5.3: the same as one header with a list
  }
  file.bytes = claimed_bytes(file.header("content-length"));
}

/// One request without redirects. `file` keeps its answer, or why there is none.
void request(const Url& url, const FetchLimits& limits, PageFile& file) {
  file.url = url.text();
  auto made = client_for(url, limits.request);
  if (!made.ok()) {
    file.failure = made.error().message;
    return;
  }
  httplib::ClientImpl& client = **made;
  std::atomic<bool> timed_out = false;
  bool too_long = false;
  bool headers_suffice = false;
  const httplib::Headers headers = {{"Accept-Encoding", "br, gzip"}, {"User-Agent", "driftscope-doctor"}};
  httplib::Result answer = [&] {
    // Also an answer that comes byte by byte ends, which no timeout of a single read sees.
    const TimeLimit limit(limits.request, [&] {
      timed_out = true;
      client.stop();
    });
    return client.Get(
        url.path, headers,
        [&](const httplib::Response& response) {
          file.status = response.status;
          keep_headers(response.headers, file);
          // Redirects and large files: the headers say all.
          headers_suffice = !is_text(file.role) || !file.ok();
          return !headers_suffice;
        },
        [&](const char* data, std::size_t size) {
          too_long = static_cast<std::int64_t>(file.text.size() + size) > limits.text_bytes;
          if (!too_long) file.text.append(data, size);
          return !too_long && !timed_out;
        });
  }();
  if (headers_suffice && file.status != 0) return;
  if (too_long)
    file.failure = fmt::format("its text has more than {}, the limit here", format_bytes(limits.text_bytes));
  else if (!answer || timed_out)
    file.failure = failure_text(answer.error(), timed_out, limits.request);
  if (!file.failure.empty()) {
    file.status = 0;
    file.text.clear();
  } else if (!file.bytes && file.header("content-encoding").empty()) {
    file.bytes = static_cast<std::int64_t>(file.text.size());
  }
}

bool is_redirect(const PageFile& file) {
  return file.status >= first_redirect && file.status <= last_redirect && !file.header("location").empty();
}

/// Follows redirects; for a file of the page only within its origin.
Result<PageFile> fetch(Url url, PageFile file, const FetchLimits& limits, const std::string* origin) {
  const std::string first = url.text();
  std::set<std::string> seen;
  for (int hops = 0;; ++hops) {
    PageFile answer = file;
    seen.insert(url.text());
    request(url, limits, answer);
    if (!is_redirect(answer)) return answer;
    const auto next = resolve_url(url, answer.header("location"));
    if (!next.ok()) return in_context(next.error(), first + ": its redirect");
    if (origin != nullptr && next->origin() != *origin) return answer;
    if (seen.contains(next->text()))
      return bad_input(
          fmt::format("{}: the redirects lead in a circle, back to {}; expected a page at their end", first,
                      next->text()));
    if (hops >= limits.redirects)
      return limit_error(fmt::format("{}: more than {} redirects", first, limits.redirects));
    url = *next;
  }
}

class PageFetcher {
 public:
  PageFetcher(std::span<const std::string> beside_models, const FetchLimits& limits)
      : beside_models_(beside_models), limits_(limits), end_(steady_clock::now() + limits.all) {}

  Result<DeployPage> run(std::string_view text) {
    result_.url = std::string(text);
    DRIFTSCOPE_TRY(const Url given, parse_url(text));
    DRIFTSCOPE_TRY(PageFile page, fetch(given, {.role = PageRole::page}, limits_, nullptr));
    if (page.status == 0) return io_error(fmt::format("{}: {}", page.url, page.failure));
    DRIFTSCOPE_TRY(page_, parse_url(page.url));
    origin_ = page_.origin();
    fetched_.insert(page.url);
    result_.files.push_back(std::move(page));
    base_ = page_;
    if (result_.page().ok()) follow_page();
    while (!queue_.empty()) {
      if (result_.files.size() >= limits_.files || steady_clock::now() > end_) {
        result_.incomplete = true;
        break;
      }
      const Wanted wanted = std::move(queue_.front());
      queue_.pop_front();
      DRIFTSCOPE_CHECK(take(wanted));
    }
    return std::move(result_);
  }

 private:
  /// Candidates for one name: a script's string is relative to the page (fetch) or to the script (import).
  struct Wanted {
    std::vector<Url> candidates;
    PageFile file;
    int depth = 0;
  };

  void want(const PageLink& link, const std::vector<Url>& bases, const std::string& named_by, int depth) {
    Wanted wanted{.candidates = {},
                  .file = {.role = link.role, .named_by = named_by, .guessed = link.guessed},
                  .depth = depth};
    for (const Url& base : bases) {
      const auto url = resolve_url(base, link.reference);
      if (!url.ok()) continue;
      if (url->origin() != origin_) {
        // A web address of http in a script's text is as a rule that of a licence or a home page.
        const bool prose = link.guessed && link.role == PageRole::script && !url->secure();
        if (!prose && std::ranges::find(result_.elsewhere, url->text()) == result_.elsewhere.end())
          result_.elsewhere.push_back(url->text());
        continue;
      }
      if (std::ranges::find(wanted.candidates, *url) == wanted.candidates.end())
        wanted.candidates.push_back(*url);
    }
    if (!wanted.candidates.empty()) queue_.push_back(std::move(wanted));
  }

  void follow_page() {
    const PageFile page = result_.page();
    if (const auto base = base_of_html(page.text)) {
      if (const auto url = resolve_url(page_, *base); url.ok()) base_ = *url;
    }
    for (const PageLink& link : links_of_html(page.text)) want(link, {base_}, page.url, 0);
  }

  /// What scripts name, down to the last level that is looked through.
  void follow_script(const PageFile& script, const Url& url, int depth) {
    if (depth >= limits_.script_levels) return;
    for (const PageLink& link : links_of_script(script.text)) want(link, {url, base_}, script.url, depth + 1);
  }

  Status take(const Wanted& wanted) {
    std::optional<PageFile> kept;
    for (const Url& url : wanted.candidates) {
      if (fetched_.contains(url.text())) return {};
      DRIFTSCOPE_TRY(PageFile file, fetch(url, wanted.file, limits_, &origin_));
      fetched_.insert(url.text());
      const bool there = file.ok();
      if (!kept || there) kept = std::move(file);
      if (there) break;
    }
    if (!kept) return {};
    result_.files.push_back(*std::move(kept));
    const PageFile file = result_.files.back();
    if (!file.ok()) return {};
    DRIFTSCOPE_TRY(const Url url, parse_url(file.url));
    if (file.role == PageRole::script || file.role == PageRole::module)
      follow_script(file, url, wanted.depth);
    if (file.role == PageRole::model)
      for (const std::string& name : beside_models_) want({name, PageRole::data, false}, {url}, file.url, 1);
    return {};
  }

  std::span<const std::string> beside_models_;
  FetchLimits limits_;
  steady_clock::time_point end_;
  DeployPage result_;
  Url page_;
  Url base_;
  std::string origin_;
  std::deque<Wanted> queue_;
  std::set<std::string> fetched_;
};

}  // namespace

Result<DeployPage> fetch_page(std::string_view url, std::span<const std::string> beside_models,
                              const FetchLimits& limits) {
  return PageFetcher(beside_models, limits).run(url);
}

}  // namespace driftscope
