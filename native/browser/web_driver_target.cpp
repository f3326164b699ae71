#include "native/browser/web_driver_target.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t largest_file = std::size_t{1} << 20;
// One behind that of the hub (command_serve.cpp).
constexpr int page_port = 8459;

/// browserName, of browsers that are known to have a driver.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> known_browsers{{
    {"chrome", "chrome"},
    {"firefox", "firefox"},
    {"safari", "safari"},
    {"edge", "MicrosoftEdge"},
    {"MicrosoftEdge", "MicrosoftEdge"},
    {"MiniBrowser", "MiniBrowser"},
}};

constexpr std::string_view expected_in_file =
    "expected an object of names, each with the W3C capabilities of a browser, as {\"pixel8\": "
    "{\"browserName\": \"chrome\", \"platformName\": \"android\"}}";

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

fs::path file_of(const WebDriverOptions& options) {
  return options.capabilities.empty() ? fs::path(from_environment(capabilities_variable))
                                      : options.capabilities;
}

Error wrong_file(const fs::path& path, const std::string& what) {
  return bad_input(fmt::format("{}: {}; {}", path.string(), what, expected_in_file));
}

// Of values only what they are: vendors have keys in them.
Result<ordered_json> read_capabilities(const fs::path& path) {
  auto bytes = read_file(path);
  if (!bytes.ok()) return in_context(std::move(bytes).error(), "--capabilities");
  if (bytes->size() > largest_file)
    return limit_error(
        fmt::format("{}: it has {} bytes, at most {} are read", path.string(), bytes->size(), largest_file));
  auto document = parse_document({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  if (!document.ok()) return wrong_file(path, document.error().message);
  if (!document->is_object()) return wrong_file(path, fmt::format("it is a JSON {}", document->type_name()));
  if (document->empty()) return wrong_file(path, "it names no browser");
  for (const auto& [name, value] : document->items()) {
    if (name.empty() || name.find_first_of("/,") != std::string::npos)
      return wrong_file(path, in_quotes(name) + " cannot be a name: targets have '/' and ',' around it");
    if (!value.is_object())
      return wrong_file(path, fmt::format("{} is a JSON {}", in_quotes(name), value.type_name()));
    for (const char* const outer : {"capabilities", "alwaysMatch", "firstMatch", "desiredCapabilities"})
      if (value.contains(outer))
        return wrong_file(path, fmt::format("{} holds \"{}\", leave that out and give what is in it",
                                            in_quotes(name), outer));
  }
  return document;
}

Result<std::string> capabilities_of(const std::string& name, const WebDriverOptions& options) {
  if (const fs::path path = file_of(options); !path.empty()) {
    DRIFTSCOPE_TRY(const ordered_json document, read_capabilities(path));
    if (document.contains(name)) return json_text(document[name]);
    std::vector<std::string> names;
    for (const auto& [one, value] : document.items()) names.push_back(in_quotes(one));
    return bad_input(fmt::format("{}: it names no browser {}; those that it names: {}", path.string(),
                                 in_quotes(name), fmt::join(names, ", ")));
  }
  std::vector<std::string_view> names;
  for (const auto& [known, browser_name] : known_browsers) {
    if (known == name) {
      ordered_json capabilities;
      capabilities["browserName"] = browser_name;
      return json_text(capabilities);
    }
    names.push_back(known);
  }
  return bad_input(
      fmt::format("{} is no browser that has a WebDriver: {}; for another, or with capabilities "
                  "of its own: --capabilities FILE.json (or ${})",
                  in_quotes(name), fmt::join(names, ", "), capabilities_variable));
}

}  // namespace

bool is_web_driver(std::string_view host) {
  return host.starts_with(web_driver_prefix) ||
         host == web_driver_prefix.substr(0, web_driver_prefix.size() - 1);
}

Result<WebDriverAddress> web_driver_address(const WebDriverOptions& options) {
  const std::string given = options.url.empty() ? from_environment(web_driver_variable) : options.url;
  if (given.empty())
    return missing_error(
        fmt::format("no WebDriver is given: --webdriver URL, or ${} where the address has a key "
                    "(docs/webdriver.md)",
                    web_driver_variable));
  return parse_web_driver_address(given);
}

Result<std::vector<std::string>> web_driver_names(const WebDriverOptions& options) {
  std::vector<std::string> names;
  const fs::path path = file_of(options);
  if (path.empty()) return names;
  DRIFTSCOPE_TRY(const ordered_json document, read_capabilities(path));
  for (const auto& [name, value] : document.items()) names.push_back(name);
  return names;
}

Result<WebDriverTarget> find_web_driver_target(const Target& target, const WebDriverOptions& options) {
  const std::string name = target.host.starts_with(web_driver_prefix)
                               ? target.host.substr(web_driver_prefix.size())
                               : std::string();
  if (name.empty())
    return bad_input(
        fmt::format("target {}: which browser? expected webdriver:NAME/{}, as "
                    "webdriver:chrome/{}",
                    target.text(), target.engine, target.engine));
  WebDriverTarget found{.host = target.host, .address = {}, .capabilities = {}};
  auto capabilities = capabilities_of(name, options);
  if (!capabilities.ok()) return in_context(std::move(capabilities).error(), target.host);
  found.capabilities = *std::move(capabilities);
  auto address = web_driver_address(options);
  if (!address.ok()) return in_context(std::move(address).error(), target.host);
  found.address = *std::move(address);
  return found;
}

Result<WebDriverPage> web_driver_page(const WebDriverOptions& options) {
  if (options.page.empty()) return WebDriverPage{"", options.port};
  auto url = parse_url(options.page);
  if (!url.ok()) return in_context(std::move(url).error(), "--webdriver-page");
  if (!url->secure())
    return bad_input(
        "--webdriver-page: browsers give WebGPU, threads and storage to https and to localhost "
        "alone, got " +
        options.page);
  if (url->path != "/" && !url->path.empty())
    return bad_input("--webdriver-page: expected an address without a path, as " + url->origin() + ", got " +
                     options.page);
  return WebDriverPage{url->origin(), options.port == 0 ? page_port : options.port};
}

}  // namespace driftscope
