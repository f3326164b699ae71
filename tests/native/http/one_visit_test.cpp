#include "native/http/one_visit.hpp"

#include <doctest/doctest.h>

#include "native/http/raw_http.hpp"

namespace driftscope::test::one_visit_test {
namespace {

using namespace testing;

ServerOptions with_visit() {
  ServerOptions options;
  options.one_visit = true;
  return options;
}

struct Visited : TestSite {
  Visited() : TestSite(with_visit()) {
    segment = server->visit_url().substr(server->visit_url().find('/', 8));
    segment.pop_back();
  }
  [[nodiscard]] std::string visit(const std::string& below, const std::string& cookies = "") const {
    return request("GET", segment + below, cookies);
  }
  std::string segment;  // "/…"
};

/// "driftscope=…" of a Set-Cookie header; empty without one.
std::string cookie_of(const std::string& reply) {
  const std::size_t begin = reply.find("driftscope=");
  return begin == std::string::npos ? std::string() : reply.substr(begin, reply.find(';', begin) - begin);
}

TEST_CASE("OneVisit_FirstBrowser_HasThePageAndItsFiles") {
  const Visited site;
  const std::string page = site.visit("/");
  CHECK(status_of(page) == 200);
  CHECK(page.find("; Path=" + site.segment + "/; HttpOnly; SameSite=Strict\r\n") != std::string::npos);
  const std::string cookie = "Cookie: a=1; " + cookie_of(page) + "; b=2\r\n";
  for (const char* below : {"/", "/web/page.mjs", "/api/session"}) {
    const std::string again = site.visit(below, cookie);
    CHECK_MESSAGE(status_of(again) == 200, below);
    CHECK_MESSAGE(cookie_of(again).empty(), below);
  }
}

TEST_CASE("OneVisit_AnotherBrowser_GetsNothing") {
  const Visited site;
  const std::string cookie = cookie_of(site.visit("/"));
  REQUIRE(cookie.size() > 40);
  for (const std::string& header : {std::string(), "Cookie: " + cookie.substr(0, cookie.size() - 1) + "\r\n",
                                    "Cookie: x" + cookie + "\r\n", std::string("Cookie: driftscope=\r\n"),
                                    std::string("Cookie: ;;=;\r\n")})
    for (const char* below : {"/", "/web/page.mjs", "/api/session"})
      CHECK_MESSAGE(status_of(site.visit(below, header)) == 403, header << below);
  CHECK(status_of(site.get("/")) == 200);  // the server's own address is as before
}

TEST_CASE("OneVisit_OtherRequestsThanForThePage_DoNotUseItUp") {
  const Visited site;
  CHECK(status_of(site.visit("/web/page.mjs")) == 403);
  CHECK(status_of(site.visit("/api/session")) == 403);
  CHECK(status_of(site.request("HEAD", site.segment + "/")) == 403);
  CHECK(status_of(site.request("GET", site.segment + "/", "Origin: http://evil.example\r\n")) == 403);
  CHECK(status_of(site.visit("/")) == 200);
}

TEST_CASE("OneVisit_NotAskedFor_IsNowhere") {
  const TestSite site;
  CHECK(site.server->visit_url().empty());
  CHECK(status_of(site.request("GET", "/")) == 404);
}

}  // namespace
}  // namespace driftscope::test::one_visit_test
