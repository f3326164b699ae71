// Compiled for size on the web (cmake/core.cmake).
#include "core/runtime/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace driftscope {
namespace {

// Hosts of which there are several, each with a name that somebody gave.
constexpr std::array<std::string_view, 2> named_hosts{"remote:", "webdriver:"};

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// Which hosts there are is known where models run (native/host/host.hpp).
bool is_host(std::string_view text) {
  for (const std::string_view prefix : named_hosts)
    if (text.starts_with(prefix)) return text.size() > prefix.size();
  return is_name(text);
}

Error malformed(std::string_view text, std::string_view why) {
  return bad_input(
      fmt::format("target \"{}\": {}; expected HOST/ENGINE[:option=value,…], for example \"pc/strict\" or "
                  "\"chrome/strict:threads=2\"",
                  text, why));
}

Status read_options(std::string_view text, std::string_view options, Target& target) {
  while (true) {
    const std::string_view option = options.substr(0, options.find(','));
    const auto equals = option.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return malformed(text, fmt::format("the option \"{}\" is not name=value", option));
    const std::string name(option.substr(0, equals));
    if (!target.options.emplace(name, option.substr(equals + 1)).second)
      return malformed(text, fmt::format("the option \"{}\" is given twice", name));
    if (option.size() == options.size()) return {};
    options.remove_prefix(option.size() + 1);
  }
}

// Whether this part of a list is a target of its own rather than one more option.
bool starts_target(std::string_view part) {
  const auto slash = part.find('/');
  return slash != std::string_view::npos && slash < part.find('=');
}

}  // namespace

std::string Target::text() const {
  std::string result = host + "/" + engine;
  char separator = ':';
  for (const auto& [name, value] : options) {
    result += fmt::format("{}{}={}", separator, name, value);
    separator = ',';
  }
  return result;
}

Result<Target> parse_target(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return malformed(text, "there is no \"/\"");
  Target target;
  target.host = text.substr(0, slash);
  if (!is_host(target.host))
    return malformed(text, fmt::format("\"{}\" is not the name of a host", target.host));
  const std::string_view rest = text.substr(slash + 1);
  if (target.host == "file") {  // a path: everything after the slash
    if (rest.empty()) return malformed(text, "the path of the trace is missing");
    target.engine = rest;
    return target;
  }
  const auto colon = rest.find(':');
  target.engine = rest.substr(0, colon);
  if (target.engine.empty()) return malformed(text, "the engine is missing");
  if (target.engine.find_first_of("/=,") != std::string::npos)
    return malformed(text, fmt::format("\"{}\" is not an engine name", target.engine));
  if (colon == std::string_view::npos) return target;
  DRIFTSCOPE_CHECK(read_options(text, rest.substr(colon + 1), target));
  return target;
}

Result<std::vector<Target>> parse_targets(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (parts.empty() || starts_target(part)) {
      parts.emplace_back(part);
    } else {
      parts.back() += ',';
      parts.back() += part;
    }
    begin = end + 1;
  }
  std::vector<Target> targets;
  for (const std::string& part : parts) {
    DRIFTSCOPE_TRY(Target target, parse_target(part));
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace driftscope
