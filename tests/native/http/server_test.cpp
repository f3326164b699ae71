#include <brotli/encode.h>
#include <doctest/doctest.h>
#include <zlib.h>

#include <set>

#include "core/base/rng.hpp"
#include "native/http/compression.hpp"
#include "native/http/guard.hpp"
#include "native/http/raw_http.hpp"
#include "native/http/static_files.hpp"
#include "native/os/token.hpp"

namespace driftscope::test::server_test {
namespace {

using namespace testing;

TEST_CASE("Token_ManyDrawn_AllDifferentAndLong") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto token = random_token();
    REQUIRE(token.ok());
    CHECK(token->size() == 48);
    CHECK(seen.insert(*token).second);
  }
}

TEST_CASE("Token_OfAnotherLength_IsNotTheSame") {
  CHECK(same_token("abc", "abc"));
  CHECK_FALSE(same_token("ab", "abc"));
  CHECK_FALSE(same_token("abcd", "abc"));
  CHECK_FALSE(same_token("", "abc"));
}

TEST_CASE("Server_WithToken_ServesThePageIsolated") {
  const TestSite site;
  const std::string reply = site.get("/");
  CHECK(status_of(reply) == 200);
  CHECK(body_of(reply) == "<p>the page</p>");
  for (const char* header :
       {"Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Embedder-Policy: require-corp",
        "Cross-Origin-Resource-Policy: same-origin", "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer", "Content-Security-Policy: default-src 'none'",
        "Content-Type: text/html; charset=utf-8"})
    CHECK_MESSAGE(reply.find(header) != std::string::npos, header);
  CHECK(site.get("/web/page.mjs").find("Content-Type: text/javascript") != std::string::npos);
  CHECK(status_of(site.get("")) == 308);
}

TEST_CASE("Server_WithoutToken_Answers404ToEverything") {
  const TestSite site;
  for (const char* path : {"/", "/index.html", "/web/page.mjs", "/api/session", "/favicon.ico"})
    CHECK(status_of(site.request("GET", path)) == 404);
  std::string nearly = site.token;
  nearly.back() = nearly.back() == '0' ? '1' : '0';
  CHECK(status_of(site.request("GET", nearly + "/")) == 404);
  CHECK(status_of(site.request("GET", site.token.substr(0, 20) + "/")) == 404);
  CHECK(status_of(site.request("DELETE", site.token + "/index.html")) == 404);
}

TEST_CASE("Guard_WrongToken_IsLikeAnUnknownPath") {
  const Address address{8080, "0123456789abcdef"};
  const auto status = [&](std::string_view path) {
    RequestFacts facts;
    facts.path = path;
    facts.hosts = {"127.0.0.1:8080"};
    const auto rejection = reject(facts, address);
    return rejection ? rejection->status : 200;
  };
  CHECK(status("/0123456789abcdef/") == 200);
  CHECK(status("/0123456789abcdef") == 200);
  for (const char* path : {"", "/", "//0123456789abcdef/", "/0123456789abcdee/", "/0123456789abcdef0/",
                           "0123456789abcdef/", "/x/0123456789abcdef/"})
    CHECK_MESSAGE(status(path) == 404, path);
}

// Browsers leave the usual port out.
TEST_CASE("Guard_PortOfTheWeb_NeedsNoPortInItsHost") {
  const auto status = [](int port, const char* host) {
    RequestFacts facts;
    facts.path = "/0123456789abcdef/";
    facts.hosts = {host};
    const auto rejection = reject(facts, {port, "0123456789abcdef"});
    return rejection ? rejection->status : 200;
  };
  CHECK(status(80, "127.0.0.1") == 200);
  CHECK(status(80, "127.0.0.1:80") == 200);
  CHECK(status(8080, "127.0.0.1") != 200);
}

TEST_CASE("Server_ForeignHost_Rejected") {
  const TestSite site;
  const int port = site.server->port();
  const auto with_host = [&](const std::string& hosts) {
    return status_of(send_raw(port, "GET " + site.token + "/ HTTP/1.1\r\n" + hosts + "\r\n"));
  };
  const std::string number = std::to_string(port);
  CHECK(with_host("Host: 127.0.0.1:" + number + "\r\n") == 200);
  CHECK(with_host("Host: localhost:" + number + "\r\n") == 200);
  CHECK(with_host("Host: evil.example:" + number + "\r\n") == 403);
  CHECK(with_host("Host: 127.0.0.1\r\n") == 403);
  CHECK(with_host("Host: 127.0.0.1:" + number + ".evil.example\r\n") == 403);
  CHECK(with_host("") == 403);
  CHECK(with_host("Host: 127.0.0.1:" + number + "\r\nHost: evil.example\r\n") == 403);
}

TEST_CASE("Server_ForeignOrigin_Rejected") {
  const TestSite site;
  const auto with_origin = [&](const std::string& origin) {
    return status_of(site.request("GET", site.token + "/", "Origin: " + origin + "\r\n"));
  };
  const std::string number = std::to_string(site.server->port());
  CHECK(with_origin("http://127.0.0.1:" + number) == 200);
  CHECK(with_origin("http://localhost:" + number) == 200);
  CHECK(with_origin("http://evil.example") == 403);
  CHECK(with_origin("https://127.0.0.1:" + number) == 403);
  CHECK(with_origin("http://127.0.0.1:1") == 403);
  CHECK(with_origin("null") == 403);
}

TEST_CASE("Server_PathsLeavingTheFolder_NotFound") {
  const TestSite site;
  std::filesystem::create_symlink(site.folder->path() / "secret.txt", site.site / "link.txt");
  std::filesystem::create_symlink(site.folder->path(), site.site / "out");
  std::filesystem::create_symlink("web/page.mjs", site.site / "inside.mjs");
  site.write("site/.hidden", "hidden");
  for (const char* path : {"/../secret.txt", "/%2e%2e/secret.txt", "/web/../../secret.txt",
                           "/..%2fsecret.txt", "/%2e%2e%2fsecret.txt", "//etc/passwd", "/%2fetc/passwd",
                           "/..\\secret.txt", "/..%5csecret.txt", "/link.txt", "/out/secret.txt", "/.hidden",
                           "/web", "/index.html%00", "/index.html/", "/%252e%252e/secret.txt", "/web/%0d%0a"})
    CHECK_MESSAGE(status_of(site.get(path)) == 404, path);
  CHECK(status_of(site.get("/inside.mjs")) == 200);
}

std::string header_of(const std::string& reply, const std::string& name) {
  const auto head = reply.substr(0, reply.find("\r\n\r\n"));
  const auto at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

const std::string repetitive = [] {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "export const a = " + std::to_string(i % 10) + ";\n";
  return text;
}();

TEST_CASE("BestCoding_FollowsAcceptEncoding") {
  CHECK(best_coding("") == Coding::identity);
  CHECK(best_coding("gzip, deflate, br, zstd") == Coding::brotli);
  CHECK(best_coding("gzip, deflate") == Coding::gzip);
  CHECK(best_coding("GZIP") == Coding::gzip);
  CHECK(best_coding("br;q=0, gzip;q=0.5") == Coding::gzip);
  CHECK(best_coding("br;q=0.000") == Coding::identity);
  CHECK(best_coding("br ; q=0.001") == Coding::brotli);
  CHECK(best_coding("*") == Coding::brotli);
  CHECK(best_coding("*, br;q=0") == Coding::gzip);
  CHECK(best_coding("identity, brotli") == Coding::identity);
}

TEST_CASE("Server_FileInEachCoding_IsShorterAndSaysWhich") {
  const TestSite site;
  site.write("site/web/large.mjs", repetitive);
  const std::string plain = site.get("/web/large.mjs");
  CHECK(body_of(plain) == repetitive);
  CHECK(header_of(plain, "Content-Encoding").empty());
  CHECK(header_of(plain, "Vary") == "Accept-Encoding");
  std::set<std::string> etags = {header_of(plain, "ETag")};
  for (const char* coding : {"br", "gzip"}) {
    CAPTURE(coding);
    const std::string reply = site.get("/web/large.mjs", std::string("Accept-Encoding: ") + coding + "\r\n");
    CHECK(status_of(reply) == 200);
    CHECK(header_of(reply, "Content-Encoding") == coding);
    CHECK(header_of(reply, "Vary") == "Accept-Encoding");
    CHECK(header_of(reply, "Cache-Control") == "private, no-cache");
    CHECK(header_of(reply, "Content-Length") == std::to_string(body_of(reply).size()));
    CHECK(body_of(reply).size() < repetitive.size() / 10);
    etags.insert(header_of(reply, "ETag"));
  }
  CHECK(etags.size() == 3);
  CHECK_FALSE(etags.contains(""));
}

TEST_CASE("Server_SmallOrRandomFile_IsSentAsItIs") {
  const TestSite site;
  std::string noise(100'000, '\0');
  Rng rng(1);
  for (char& c : noise) c = static_cast<char>(rng.next() >> 33);
  site.write("site/noise.onnx", noise);
  for (const char* path : {"/web/page.mjs", "/noise.onnx"}) {
    const std::string reply = site.get(path, "Accept-Encoding: br, gzip\r\n");
    CHECK(status_of(reply) == 200);
    CHECK(header_of(reply, "Content-Encoding").empty());
  }
}

TEST_CASE("Server_KnownEtag_304UntilTheFileChanges") {
  const TestSite site;
  site.write("site/web/large.mjs", repetitive);
  const std::string accept = "Accept-Encoding: br\r\n";
  const std::string etag = header_of(site.get("/web/large.mjs", accept), "ETag");
  const auto ask = [&](const std::string& known) {
    return site.get("/web/large.mjs", accept + "If-None-Match: " + known + "\r\n");
  };
  for (const std::string& known : {etag, "W/" + etag, "\"other\", " + etag, std::string("*")}) {
    CAPTURE(known);
    CHECK(status_of(ask(known)) == 304);
    CHECK(body_of(ask(known)).empty());
    CHECK(header_of(ask(known), "ETag") == etag);
  }
  CHECK(status_of(ask("\"other\"")) == 200);
  site.write("site/web/large.mjs", repetitive + "// changed\n");
  CHECK(status_of(ask(etag)) == 200);
  CHECK(header_of(ask(etag), "ETag") != etag);
}

// As the build compresses, which the server does not.
std::string compressed_by_the_build(Coding coding, const std::string& bytes) {
  std::string out(bytes.size() + 1024, '\0');
  if (coding == Coding::brotli) {
    std::size_t size = out.size();
    const auto* in = reinterpret_cast<const std::uint8_t*>(bytes.data());
    REQUIRE(BrotliEncoderCompress(1, BROTLI_MIN_WINDOW_BITS, BROTLI_MODE_TEXT, bytes.size(), in, &size,
                                  reinterpret_cast<std::uint8_t*>(out.data())) == BROTLI_TRUE);
    out.resize(size);
    return out;
  }
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 1, Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST_CASE("Server_CompressedBesideTheFile_IsTakenOnlyWhenItIsTheFile") {
  const std::string changed = repetitive + "// changed\n";
  for (const Coding coding : {Coding::brotli, Coding::gzip}) {
    const std::string name(coding_name(coding));
    CAPTURE(name);
    const auto body_with = [&](const std::string& beside) {
      const TestSite site;
      site.write("site/web/large.mjs", repetitive);
      site.write("site/web/large.mjs" + std::string(coding == Coding::brotli ? ".br" : ".gz"), beside);
      return body_of(site.get("/web/large.mjs", "Accept-Encoding: " + name + "\r\n"));
    };
    const std::string built = compressed_by_the_build(coding, repetitive);
    REQUIRE(built != compress(coding, repetitive));
    CHECK(body_with(built) == built);
    // Of another build, cut, with something after it, nothing of the kind: newer than the file all the same.
    for (const std::string& wrong :
         {compressed_by_the_build(coding, changed), compressed_by_the_build(coding, repetitive.substr(1)),
          built.substr(0, built.size() / 2), built + "x", std::string("wrong"), std::string()}) {
      CAPTURE(wrong.size());
      CHECK(body_with(wrong) == compress(coding, repetitive));
    }
  }
}

// httplib 0.11 asks for bytes behind the end.
TEST_CASE("Server_RangeThatAFileDoesNotHave_Is416AndNothingMore") {
  const TestSite site;
  for (const char* range :
       {"bytes=0-91", "bytes=15-", "bytes=100-200", "bytes=-16", "bytes=9-3", "bytes=0-3,0-91"}) {
    CAPTURE(range);
    const std::string reply = site.get("/", "Range: " + std::string(range) + "\r\n");
    CHECK(status_of(reply) >= 400);
    CHECK(body_of(reply).find("the page") == std::string::npos);
  }
  CHECK(body_of(site.get("/", "Range: bytes=0-14\r\n")) == "<p>the page</p>");
  CHECK(body_of(site.get("/", "Range: bytes=-4\r\n")) == "</p>");
}

TEST_CASE("Server_RangeOfAFile_IsOfItsOwnBytes") {
  const TestSite site;
  site.write("site/web/large.mjs", repetitive);
  const std::string reply = site.get("/web/large.mjs", "Accept-Encoding: br\r\nRange: bytes=7-11\r\n");
  CHECK(status_of(reply) == 206);
  CHECK(body_of(reply) == repetitive.substr(7, 5));
}

TEST_CASE("Server_AnswersOfTheApi_AreNeverStored") {
  const TestSite site;
  CHECK(header_of(site.get("/api/session"), "Cache-Control") == "no-store");
}

TEST_CASE("Server_TooManyHeaders_Rejected") {
  const TestSite site;
  std::string headers;
  for (int i = 0; i < 40; ++i) headers += "X-" + std::to_string(i) + ": " + std::string(1000, 'x') + "\r\n";
  CHECK(status_of(site.request("GET", site.token + "/", headers)) == 431);
  CHECK(status_of(site.request("GET", site.token + "/" + std::string(9000, 'a'))) >= 400);
}

TEST_CASE("Server_CompressedBody_Rejected") {
  const TestSite site;
  CHECK(status_of(site.request("POST", site.token + "/api/traces", "Content-Encoding: gzip\r\n", "abc")) ==
        415);
}

// httplib takes forms apart itself, and answers 500 where one is malformed.
TEST_CASE("Server_Form_Rejected") {
  const TestSite site;
  for (const char* type : {"multipart/form-data; boundary=b", "multipart/form-databoundary=b"})
    CHECK(status_of(site.request("POST", site.token + "/api/traces",
                                 "Content-Type: " + std::string(type) + "\r\n", "--b\r\n")) == 415);
}

TEST_CASE("Server_BodyWithoutLength_RefusedAtOnce") {
  const TestSite site;
  CHECK(status_of(site.request("POST", site.token + "/api/traces")) == 411);
}

TEST_CASE("Server_PortInUse_SaysSo") {
  const TestSite site;
  ServerOptions options;
  options.site = site.site;
  options.port = site.server->port();
  const auto second = Server::start(std::move(options));
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message.find("in use") != std::string::npos);
  CHECK(second.error().message.find(std::to_string(site.server->port())) != std::string::npos);
}

TEST_CASE("Server_NoPageInTheFolder_SaysSo") {
  const auto folder = TempFolder::make();
  ServerOptions options;
  options.site = folder->path();
  const auto server = Server::start(std::move(options));
  REQUIRE_FALSE(server.ok());
  CHECK(server.error().kind == ErrorKind::missing);
}

TEST_CASE("Server_TwoAtOnce_HaveDifferentPortsAndTokens") {
  const TestSite one;
  const TestSite two;
  CHECK(one.server->port() != two.server->port());
  CHECK(one.token != two.token);
  CHECK(status_of(two.request("GET", one.token + "/")) == 404);
}

TEST_CASE("Server_TraceByHand_GoesToTheTaker") {
  std::string got;
  ServerOptions options;
  options.max_trace_bytes = 1000;
  options.pc_targets = {"pc/strict"};
  options.on_trace = [&](Bytes bytes) -> Result<std::string> {
    if (bytes.empty()) return bad_input("empty");
    got.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return std::string("there");
  };
  const TestSite site(std::move(options));
  CHECK(body_of(site.get("/api/session")) == R"({"accepts_traces":true,"pc_targets":["pc/strict"]})");
  CHECK(body_of(site.post("/api/traces", "a trace")) == R"({"saved":"there"})");
  CHECK(got == "a trace");
  CHECK(status_of(site.post("/api/traces", std::string(1001, 'x'))) == 413);
  CHECK(got == "a trace");
  const TestSite without;
  CHECK(body_of(without.get("/api/session")) == R"({"accepts_traces":false,"pc_targets":[]})");
  CHECK(status_of(without.post("/api/traces", "a trace")) == 413);
}

}  // namespace
}  // namespace driftscope::test::server_test
