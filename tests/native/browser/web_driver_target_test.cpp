// Which WebDriver is asked for which browser: addresses, names, files of capabilities.
#include "native/browser/web_driver_target.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "native/browser/driver_secrets.hpp"
#include "native/browser/web_driver_identity.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::web_driver_target_test {
namespace {

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

WebDriverAddress address_of(const std::string& url) {
  auto address = parse_web_driver_address(url);
  REQUIRE_MESSAGE(address.ok(), address.error().message);
  return *std::move(address);
}

TEST_CASE("WebDriverAddress_UserAndKey_AreReadAndNeverShown") {
  const auto address = address_of("https://anna:s3%2Fcret@hub.example.org/wd/hub/");
  CHECK(address.user == "anna");
  CHECK(address.key == "s3/cret");
  CHECK(address.url.path == "/wd/hub");
  CHECK(address.text() == "https://***@hub.example.org/wd/hub");
  CHECK(address_of("http://127.0.0.1:4444").text() == "http://127.0.0.1:4444");
  for (const char* text :
       {"https://anna:s3cret@", "ftp://anna:s3cret@host", "anna:s3cret@host", "https://anna:s3cret/x@host",
        "https://anna:s3cret@host:99999", "https://anna:s3cret@host/?q=s3cret", "https://anna:s3cret%@host",
        "https://:s3cret@host"}) {
    CAPTURE(text);
    const auto wrong = parse_web_driver_address(text);
    REQUIRE(!wrong.ok());
    CHECK(wrong.error().kind == ErrorKind::bad_input);
    CHECK(!holds(wrong.error().message, "s3cret"));
    CHECK(holds(wrong.error().message, "expected http(s)://[USER:KEY@]HOST"));
  }
}

TEST_CASE("WebDriverTarget_CapabilityFile_IsReadOrSaysWhatIsWrong") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const std::filesystem::path path = folder->path() / "browsers.json";
  WebDriverOptions options{.url = "http://127.0.0.1:1", .capabilities = path, .page = {}, .port = 0};
  const Target target = *parse_target("webdriver:pixel8/strict");
  const auto found_in = [&](const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text;
    return find_web_driver_target(target, options);
  };
  const auto found = found_in(R"({"pixel8":{"browserName":"chrome","x:options":{"accessKey":"s3cret"}}})");
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  CHECK(found->host == "webdriver:pixel8");
  CHECK(found->capabilities == R"({"browserName":"chrome","x:options":{"accessKey":"s3cret"}})");
  CHECK(web_driver_names(options)->front() == "pixel8");
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"{", "JSON"},
           {"[1]", "it is a JSON array"},
           {"{}", "it names no browser"},
           {R"({"pixel8":"chrome"})", "'pixel8' is a JSON string"},
           {R"({"a/b":{}})", "'a/b' cannot be a name"},
           {R"({"pixel8":{"alwaysMatch":{}}})", "holds \"alwaysMatch\""},
           {R"({"ipad":{},"ipod":{}})", "those that it names: 'ipad', 'ipod'"},
           {"{\"pixel8\":{\"a\":\"" + std::string(std::size_t{2} << 20, 'x') + "\"}}", "at most 1048576"}}) {
    const auto wrong = found_in(text);
    REQUIRE(!wrong.ok());
    CAPTURE(wrong.error().message);
    CHECK(holds(wrong.error().message, why));
    CHECK(holds(wrong.error().message, "browsers.json"));
  }
}

TEST_CASE("WebDriverTarget_WithoutAFile_NameIsABrowser") {
  const WebDriverOptions options{.url = "http://127.0.0.1:1", .capabilities = {}, .page = {}, .port = 0};
  CHECK(find_web_driver_target(*parse_target("webdriver:edge/fast"), options)->capabilities ==
        R"({"browserName":"MicrosoftEdge"})");
  const auto unknown = find_web_driver_target(*parse_target("webdriver:lynx/fast"), options);
  REQUIRE(!unknown.ok());
  CHECK(holds(unknown.error().message, "--capabilities FILE.json"));
  const auto nameless = find_web_driver_target(*parse_target("webdriver/fast"), options);
  REQUIRE(!nameless.ok());
  CHECK(holds(nameless.error().message, "expected webdriver:NAME/fast"));
}

TEST_CASE("WebDriverPage_Address_IsASecureOriginAndThePortIsKnown") {
  WebDriverOptions options;
  CHECK(web_driver_page(options)->port == 0);
  options.page = "https://pc.example.org/";
  CHECK(web_driver_page(options)->origin == "https://pc.example.org");
  CHECK(web_driver_page(options)->port == 8459);
  options.port = 9000;
  CHECK(web_driver_page(options)->port == 9000);
  for (const char* wrong : {"http://pc.example.org", "https://pc.example.org/below", "pc.example.org"}) {
    options.page = wrong;
    CHECK(!web_driver_page(options).ok());
  }
}

TEST_CASE("DriverSecrets_TextsOfCapabilities_AreHiddenInMessages") {
  const auto capabilities = nlohmann::ordered_json::parse(
      R"({"browserName":"chrome","platformName":"Windows","a:options":{"browserVersion":"latest",)"
      R"("key":"s3cret",)"
      R"("list":[{"name":"s3cret-and-more"},"q\"uote"],"os":"11","n":1234567},)"
      R"("appium:automationName":"XCUITest","appium:options":{"automationName":"XCUITest"}})");
  DriverSecrets secrets = secrets_in(capabilities);
  CHECK(secrets == DriverSecrets{"s3cret", "s3cret-and-more", "q\"uote"});
  const DriverSecrets key = secrets_of(address_of("https://anna:k%2Fey@hub.example.org"));
  secrets.insert(secrets.end(), key.begin(), key.end());
  CHECK(std::ranges::find(key, "YW5uYTprL2V5") != key.end());
  CHECK(without_secrets("chrome latest on Windows 11: s3cret-and-more, s3cret, anna k/ey Basic YW5uYTprL2V5",
                        secrets) == "chrome latest on Windows 11: ***, ***, *** *** Basic ***");
  CHECK(without_secrets(R"({"q\"uote":1} q"uote)", secrets) == R"({"***":1} ***)");
  CHECK(without_secrets("Unable to obtain: Capabilities {key: x}, more", secrets) == "Unable to obtain: …");
  CHECK(secrets_of(address_of("http://127.0.0.1:4444")).empty());
}

TEST_CASE("WebDriverIdentity_Status_GivesAllVersionsButThoseOfSessions") {
  CHECK(versions_in_status(nlohmann::ordered_json::parse(
            R"({"ready":true,"build":{"version":"156.0.1 abc"},"os":{"name":"Linux"}})")) == "156.0.1 abc");
  CHECK(versions_in_status(nlohmann::ordered_json::parse(
            R"({"nodes":[{"version":"4.48.0","slots":[{"stereotype":{"browserVersion":"156"},)"
            R"("session":{"capabilities":{"browserVersion":"99"}}},)"
            R"({"stereotype":{"browserVersion":"156"}}]}]})")) == "156, 4.48.0");
  CHECK(versions_in_status(nullptr).empty());
}

}  // namespace
}  // namespace driftscope::test::web_driver_target_test
