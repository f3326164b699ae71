#include "native/browser/driver_secrets.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/base64.hpp"
#include "core/base/json.hpp"

namespace driftscope {
namespace {

// What drivers name when they have no such browser. In "appium:options" names are without their prefix.
constexpr std::array<std::string_view, 5> shown_capabilities{"browserName", "browserVersion", "platformName",
                                                             "automationName", "appium:automationName"};

void add_texts(const nlohmann::ordered_json& value, DriverSecrets& secrets) {
  constexpr std::size_t shortest = 4;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() >= shortest) secrets.push_back(text);
  }
  if (!value.is_structured()) return;
  for (const auto& [name, one] : value.items())
    if (std::ranges::find(shown_capabilities, name) == shown_capabilities.end()) add_texts(one, secrets);
}

void replace_all(std::string& text, const std::string& part) {
  constexpr std::string_view hidden = "***";
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + hidden.size()))
    text.replace(at, part.size(), hidden);
}

}  // namespace

DriverSecrets secrets_in(const nlohmann::ordered_json& capabilities) {
  DriverSecrets secrets;
  add_texts(capabilities, secrets);
  return secrets;
}

DriverSecrets secrets_of(const WebDriverAddress& address) {
  if (address.user.empty()) return {};
  DriverSecrets secrets = {base64(address.user + ":" + address.key), address.user};
  if (!address.key.empty()) secrets.insert(secrets.end(), {address.key, base64(address.key)});
  return secrets;
}

std::string without_secrets(std::string text, const DriverSecrets& secrets) {
  const std::size_t repeated = text.find("Capabilities {");
  if (repeated != std::string::npos) text.replace(repeated, std::string::npos, "…");
  DriverSecrets all = secrets;
  for (const std::string& one : secrets) {
    const std::string quoted = json_text(nlohmann::json(one));
    all.push_back(quoted.substr(1, quoted.size() - 2));
  }
  // The longest first: one may be a part of another.
  std::ranges::sort(all, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (const std::string& one : all)
    if (!one.empty()) replace_all(text, one);
  return text;
}

}  // namespace driftscope
