// URLs and the files that texts name, those of damaged HTML included.
#include "core/deploy/page_links.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/rng.hpp"
#include "core/deploy/url.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::page_links_test {
namespace {

std::string resolved(std::string_view base, std::string_view reference) {
  const auto from = parse_url(base);
  REQUIRE(from.ok());
  const auto url = resolve_url(*from, reference);
  return url.ok() ? url->text() : "error";
}

TEST_CASE("Url_Parse_PartsAndErrors") {
  const auto url = parse_url("HTTPS://Example.ORG:8443/a/../b?x=1#part");
  REQUIRE(url.ok());
  CHECK(url->text() == "https://example.org:8443/b?x=1");
  CHECK(parse_url("http://[::1]:90")->text() == "http://[::1]:90/");
  CHECK(parse_url("http://a.test:80/")->origin() == "http://a.test");
  for (const std::string_view wrong :
       {"", "a.test/x", "ftp://a.test/", "http://", "http://a.test:0/", "http://a.test:99999/",
        "http://a.test:x/", "http://me:pw@a.test/", "http://a.test/ b", "http://[::1/", "http://a.test/\n"})
    CHECK_MESSAGE(!parse_url(wrong).ok(), wrong);
  CHECK(!parse_url("http://a.test/" + std::string(5000, 'x')).ok());
}

TEST_CASE("Url_Resolve_AsRfc3986") {
  // The examples of RFC 3986, 5.4, with http and without ";".
  const std::string_view base = "http://a/b/c/d?q";
  CHECK(resolved(base, "g") == "http://a/b/c/g");
  CHECK(resolved(base, "./g") == "http://a/b/c/g");
  CHECK(resolved(base, "g/") == "http://a/b/c/g/");
  CHECK(resolved(base, "/g") == "http://a/g");
  CHECK(resolved(base, "//g") == "http://g/");
  CHECK(resolved(base, "?y") == "http://a/b/c/d?y");
  CHECK(resolved(base, "g?y") == "http://a/b/c/g?y");
  CHECK(resolved(base, "") == "http://a/b/c/d?q");
  CHECK(resolved(base, ".") == "http://a/b/c/");
  CHECK(resolved(base, "..") == "http://a/b/");
  CHECK(resolved(base, "../g") == "http://a/b/g");
  CHECK(resolved(base, "../../../g") == "http://a/g");
  CHECK(resolved(base, "g?y/./x") == "http://a/b/c/g?y/./x");
  CHECK(resolved(base, "https://b/x") == "https://b/x");
  CHECK(resolved(base, "data:text/plain,x") == "error");
}

TEST_CASE("PageLinks_Html_ElementsAndInlineScripts") {
  const auto links = links_of_html(R"(<!doctype html><!-- <script src="old.js"></script> -->
    <link rel="modulepreload" href="pre.mjs"><link rel=stylesheet href=a.css>
    <link rel=preload as=fetch href='net.onnx'>
    <script src="a.js"></script><script type="module" src=b.js></script>
    <script>const x = fetch("net.wasm"), y = `${base}/no.wasm`, z = ".wasm"; import('./c.mjs');</script>
    <a href="d.js">)");
  const std::vector<PageLink> expected = {
      {"pre.mjs", PageRole::module, false}, {"net.onnx", PageRole::model, false},
      {"a.js", PageRole::script, false},    {"b.js", PageRole::module, false},
      {"net.wasm", PageRole::wasm, true},   {"./c.mjs", PageRole::module, true}};
  CHECK(links == expected);
  CHECK(base_of_html("<base href=\"/app/\"><base href=/x/>") == "/app/");
  CHECK(!base_of_html("<p>"));
}

TEST_CASE("PageLinks_DamagedText_Ends") {
  const std::uint64_t seed = test_seed(7);
  SEED_INFO(seed);
  Rng rng(seed);
  const std::string pieces[] = {"<script", " src=",
                                "\"",      "'",
                                ">",       "</script",
                                "<!--",    "-->",
                                "a.wasm",  "<",
                                "/",       " ",
                                "=",       "<link rel=preload href",
                                "\\",      "`",
                                "${",      std::string(1, '\0'),
                                "\xff"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += pieces[rng.below(std::size(pieces))];
    const auto links = links_of_html(text);
    const auto loads = insecure_loads(text);
    CHECK(links.size() + loads.size() <= text.size());
  }
}

}  // namespace
}  // namespace driftscope::test::page_links_test
