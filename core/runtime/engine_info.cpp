// Compiled for size on the web (cmake/core.cmake).
#include "core/runtime/engine_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace driftscope {
namespace {

constexpr int max_threads = 1024;

bool is_dotted(std::string_view name) { return name.find('.') != std::string_view::npos; }

std::string option_text(const EngineOption& option) {
  const std::string number = option.version ? "VERSION" : "N";
  const std::string value = option.values.empty() ? number : fmt::format("{}", fmt::join(option.values, "|"));
  std::string notes;
  if (!option.default_text.empty()) notes = "default: " + option.default_text;
  if (!option.help.empty()) notes += (notes.empty() ? "" : "; ") + option.help;
  return fmt::format("{}={}{}", option.name, value, notes.empty() ? "" : " (" + notes + ")");
}

// Part of a file's name and of an address: nothing in it may lead elsewhere.
bool is_version(std::string_view text) {
  constexpr std::size_t longest = 64;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() <= longest && digit(text.front()) &&
         text.find("..") == std::string_view::npos && std::ranges::all_of(text, [&](char c) {
           return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-';
         });
}

Status check_value(const EngineOption& option, const std::string& text) {
  if (!option.values.empty()) {
    if (std::ranges::find(option.values, text) != option.values.end()) return {};
    return bad_input(
        fmt::format("option {}={}: expected {}", option.name, text, fmt::join(option.values, ", ")));
  }
  if (option.version) {
    if (is_version(text)) return {};
    return bad_input(fmt::format("option {}={}: expected a version, as 1.25.1", option.name, text));
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= option.min && value <= option.max)
    return {};
  return bad_input(fmt::format("option {}={}: expected a whole number from {} to {}", option.name, text,
                               option.min, option.max));
}

}  // namespace

EngineOption threads_option() {
  return {.name = "threads", .min = 1, .max = max_threads, .default_text = "all processors"};
}

bool runs_on(const EngineInfo& engine, std::string_view host) {
  return host == "pc" ? engine.on_pc : engine.in_browsers;
}

std::vector<std::string> option_lines(const EngineInfo& engine) {
  std::vector<std::string> lines;
  for (const EngineOption& option : engine.options) lines.push_back(option_text(option));
  if (!engine.dotted_options.empty()) lines.push_back("and " + engine.dotted_options);
  return lines;
}

Status check_options(const EngineInfo& engine, const std::map<std::string, std::string>& options) {
  for (const auto& [name, value] : options) {
    const auto known = std::ranges::find(engine.options, name, &EngineOption::name);
    if (known != engine.options.end()) {
      DRIFTSCOPE_CHECK(check_value(*known, value));
    } else if (engine.dotted_options.empty() || !is_dotted(name)) {
      const auto lines = option_lines(engine);
      if (lines.empty())
        return bad_input(fmt::format("engine {} has no option \"{}\", nor any other", engine.name, name));
      return bad_input(fmt::format("engine {} has no option \"{}\". Its options: {}", engine.name, name,
                                   fmt::join(lines, ", ")));
    }
  }
  return {};
}

}  // namespace driftscope
