// Each check of a page on handmade responses: a good page has no findings, each fault exactly its own.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/deploy/deploy_check.hpp"

namespace driftscope::test::deploy_page_checks_test {
namespace {

PageFile file(std::string url, PageRole role, std::string type) {
  PageFile made{
      .url = std::move(url), .role = role, .named_by = "https://a.test/", .status = 200, .bytes = 5000};
  made.headers = {{"content-type", std::move(type)}, {"etag", "\"1\""}, {"content-encoding", "br"}};
  return made;
}

DeployPage good_page() {
  DeployPage page{.url = "https://a.test/", .files = {}};
  page.files.push_back(file("https://a.test/", PageRole::page, "text/html; charset=utf-8"));
  page.files[0].headers["cross-origin-opener-policy"] = "same-origin";
  page.files[0].headers["cross-origin-embedder-policy"] = "require-corp";
  page.files.push_back(file("https://a.test/a.mjs", PageRole::module, "text/javascript"));
  page.files.push_back(file("https://a.test/a.wasm", PageRole::wasm, "application/wasm"));
  page.files.push_back(file("https://a.test/a.onnx", PageRole::model, "application/octet-stream"));
  return page;
}

std::vector<DeployFinding> findings_of(const DeployPage& page) {
  DeployContext context;
  context.page = &page;
  return check_deployment(context);
}

/// The only finding of a page.
DeployFinding only(const DeployPage& page, std::string_view check) {
  const auto findings = findings_of(page);
  REQUIRE_MESSAGE(findings.size() == 1, deployment_text(findings));
  CHECK(findings[0].check == check);
  CHECK(!findings[0].why.empty());
  return findings[0];
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST_CASE("DeployPage_Good_HasNoFindings") {
  const auto findings = findings_of(good_page());
  CHECK_MESSAGE(findings.empty(), deployment_text(findings));
}

TEST_CASE("DeployPage_Answer_StatusAndType") {
  DeployPage page = good_page();
  page.files.resize(1);
  page.files[0].status = 503;
  CHECK(says(only(page, "page_answer").why, "503"));
  page.files[0].status = 200;
  page.files[0].headers["content-type"] = "application/octet-stream";
  CHECK(only(page, "page_answer").severity == DeploySeverity::error);
}

TEST_CASE("DeployPage_SecureContext_HttpsOrThisMachine") {
  DeployPage page = good_page();
  page.files[0].url = "http://a.test/";
  CHECK(only(page, "secure_context").severity == DeploySeverity::error);
  for (const char* const local : {"http://localhost:8000/", "http://127.0.0.1/", "http://[::1]:80/"}) {
    page.files[0].url = local;
    CHECK(findings_of(page).empty());
  }
}

TEST_CASE("DeployPage_Isolation_BothHeaders") {
  DeployPage page = good_page();
  page.files[0].headers["cross-origin-embedder-policy"] = "credentialless; report-to=\"x\"";
  CHECK(findings_of(page).empty());
  page.files[0].headers.erase("cross-origin-embedder-policy");
  const auto finding = only(page, "isolation");
  CHECK(finding.severity == DeploySeverity::warning);
  CHECK(says(finding.why, "Cross-Origin-Opener-Policy is 'same-origin', expected same-origin"));
  CHECK(says(finding.why, "Cross-Origin-Embedder-Policy is missing"));
  page.files[1].text = "navigator.serviceWorker.register('sw.js')";
  CHECK(only(page, "isolation").severity == DeploySeverity::note);
}

TEST_CASE("DeployPage_Isolation_FilesOfOtherOrigins") {
  DeployPage page = good_page();
  page.elsewhere = {"https://cdn.test/x.js"};
  CHECK(only(page, "isolation").where == "https://cdn.test/x.js");
  page.files[0].headers["cross-origin-embedder-policy"] = "credentialless";
  CHECK(findings_of(page).empty());
}

TEST_CASE("DeployPage_MimeType_WasmModulesAndPagesInstead") {
  DeployPage page = good_page();
  page.files[2].headers["content-type"] = "application/octet-stream";
  CHECK(only(page, "mime_type").severity == DeploySeverity::warning);
  page = good_page();
  page.files[1].headers["content-type"] = "text/plain";
  CHECK(only(page, "mime_type").severity == DeploySeverity::error);
  page = good_page();
  page.files[3].headers["content-type"] = "text/html";
  CHECK(says(only(page, "mime_type").shows, "a page comes instead"));
  page.files[3].guessed = true;  // a name that a script puts together
  CHECK(findings_of(page).empty());
}

TEST_CASE("DeployPage_Compression_CodeIsAWarningModelsANote") {
  DeployPage page = good_page();
  page.files[2].headers.erase("content-encoding");
  CHECK(findings_of(page).empty());  // 5 kB
  page.files[2].bytes = 9'000'000;
  CHECK(only(page, "compression").severity == DeploySeverity::warning);
  CHECK(says(only(page, "compression").why, format_bytes(9'000'000)));
  page = good_page();
  page.files[3].headers.erase("content-encoding");
  page.files[3].bytes.reset();
  CHECK(only(page, "compression").severity == DeploySeverity::note);
}

TEST_CASE("DeployPage_Caching_ValidatorsAndDirectives") {
  DeployPage page = good_page();
  PageFile& wasm = page.files[2];
  wasm.headers["cache-control"] = "private, no-store";
  CHECK(says(only(page, "caching").why, "no-store"));
  wasm.headers["cache-control"] = "no-cache";
  CHECK(findings_of(page).empty());  // with its ETag
  wasm.headers.erase("etag");
  CHECK(says(only(page, "caching").why, "no ETag to ask with"));
  wasm.headers["cache-control"] = "public, Max-Age=3600";
  CHECK(findings_of(page).empty());
  wasm.headers.erase("cache-control");
  page.files[3].headers.erase("etag");
  CHECK(only(page, "caching").count == 2);
}

TEST_CASE("DeployPage_MixedContent_OnHttpsAlone") {
  DeployPage page = good_page();
  page.files[0].text =
      R"(<a href="http://b.test/">x</a><img src=http://b.test/i.png><script src='HTTP://c.test/s.js'>)";
  const auto finding = only(page, "mixed_content");
  CHECK(finding.count == 2);
  page.files[0].text = R"(<script src="http://localhost:5/x.js"></script><script src="/y.js"></script>)";
  CHECK(findings_of(page).empty());
}

TEST_CASE("DeployPage_MissingFiles_GuessedOnesAreNotes") {
  DeployPage page = good_page();
  page.files[3].status = 404;
  CHECK(only(page, "missing_files").severity == DeploySeverity::error);
  page.files[3].guessed = true;
  CHECK(only(page, "missing_files").severity == DeploySeverity::note);
  page = good_page();
  page.files.push_back(file("https://a.test/a.data", PageRole::data, ""));
  page.files.back().status = 0;
  page.files.back().failure = "no connection";
  CHECK(says(only(page, "missing_files").why, "no connection; https://a.test/ names it"));
  page = good_page();
  page.incomplete = true;
  CHECK(only(page, "missing_files").severity == DeploySeverity::note);
}

TEST_CASE("DeployPage_ContentSecurityPolicy_MustAllowWebAssembly") {
  DeployPage page = good_page();
  std::string& policy = page.files[0].headers["content-security-policy"];
  policy = "img-src 'self'";
  CHECK(findings_of(page).empty());
  policy = "default-src 'self'; img-src *";
  CHECK(only(page, "content_security_policy").severity == DeploySeverity::error);
  policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
  CHECK(findings_of(page).empty());
  policy = "default-src 'self' 'unsafe-eval'; script-src 'self'";
  CHECK(only(page, "content_security_policy").where == "https://a.test/");
}

TEST_CASE("DeployPage_Weight_AtTheGivenRate") {
  DeployPage page = good_page();
  page.files[2].bytes = 25'000'000;
  page.files[3].bytes = 15'000'000;
  CHECK(says(only(page, "page_weight").shows, "waits 32 s for the network at 10 Mbit/s"));
  CHECK(only(page, "page_weight").where == "https://a.test/a.wasm");
  DeployContext context;
  context.page = &page;
  context.limits.megabits_per_second = 100;
  CHECK(check_deployment(context).empty());
}

}  // namespace
}  // namespace driftscope::test::deploy_page_checks_test
