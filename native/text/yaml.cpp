#include "native/text/yaml.hpp"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t largest_text = std::size_t{4} << 20;
constexpr std::size_t most_values = 100'000;

/// Ends what libyaml has allocated for an event.
struct Event {
  yaml_event_t event{};
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event); }
  [[nodiscard]] int line() const { return static_cast<int>(event.start_mark.line) + 1; }
};

std::string text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text));
}

std::optional<std::int64_t> integer_in(std::string_view text, int base) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

/// Of digits, signs, points and exponents, which strtod reads alike everywhere; not what overflows.
std::optional<double> real_in(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !std::isfinite(number)) return {};
  return number;
}

/// A scalar without quotes.
ordered_json plain_scalar(const std::string& text) {
  constexpr int octal = 8, decimal = 10, hexadecimal = 16;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const bool negative = text.size() > 2 && text[2] == '-';  // "0x-1"
  if (text.starts_with("0o") && !negative)
    if (const auto number = integer_in(std::string_view(text).substr(2), octal)) return *number;
  if (text.starts_with("0x") && !negative)
    if (const auto number = integer_in(std::string_view(text).substr(2), hexadecimal)) return *number;
  // A second sign would be one of the number behind a plus.
  const bool plus = text.starts_with('+') && !text.starts_with("+-") && !text.starts_with("++");
  const std::string digits = text.substr(plus ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("+-.0123456789eE") != std::string::npos) return text;
  if (const auto number = integer_in(digits, decimal)) return *number;
  if (const auto number = real_in(digits)) return *number;
  return text;
}

class Reader {
 public:
  explicit Reader(std::string_view text) {
    good_ = yaml_parser_initialize(&parser_) != 0;
    if (good_)
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                   text.size());
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (good_) yaml_parser_delete(&parser_);
  }

  Result<YamlDocument> read() {
    if (!good_) return limit_error("no memory is left to read it");
    Event event;
    DRIFTSCOPE_CHECK(next(event));  // the stream's start
    Event start;
    DRIFTSCOPE_CHECK(next(start));
    if (start.event.type != YAML_DOCUMENT_START_EVENT) return bad_input("line 1: there is nothing in it");
    Event first;
    DRIFTSCOPE_CHECK(next(first));
    DRIFTSCOPE_TRY(document_.value, value(first, "", 0));
    Event end, after;
    DRIFTSCOPE_CHECK(next(end));
    DRIFTSCOPE_CHECK(next(after));
    if (after.event.type != YAML_STREAM_END_EVENT)
      return at(after.line(), "a second document begins; expected one");
    return std::move(document_);
  }

 private:
  static Error at(int line, const std::string& what) {
    return bad_input(fmt::format("line {}: {}", line, what));
  }

  Status next(Event& event) {
    if (yaml_parser_parse(&parser_, &event.event) != 0) return {};
    const std::string context = parser_.context == nullptr ? "" : std::string(parser_.context) + ": ";
    const char* const problem = parser_.problem == nullptr ? "it cannot be read" : parser_.problem;
    // A broken character has a place in the text alone, which libyaml gives as an offset.
    if (parser_.error == YAML_READER_ERROR)
      return bad_input(fmt::format("no YAML: {} at byte {}", problem, parser_.problem_offset));
    return at(static_cast<int>(parser_.problem_mark.line) + 1,
              fmt::format("no YAML: {}{}", context, problem));
  }

  static Error too_deep(const Event& event) {
    return limit_error(fmt::format("line {}: more than {} levels", event.line(), max_json_depth));
  }

  Status count(int line, std::size_t values) {
    values_ += values;
    if (values_ <= most_values) return {};
    return limit_error(fmt::format("line {}: more than {} values, aliases included", line, most_values));
  }

  Result<ordered_json> value(const Event& event, const std::string& path, int depth) {
    const bool has_inside =
        event.event.type == YAML_SEQUENCE_START_EVENT || event.event.type == YAML_MAPPING_START_EVENT;
    if (has_inside && depth >= max_json_depth) return too_deep(event);
    DRIFTSCOPE_CHECK(count(event.line(), 1));
    document_.lines.try_emplace(path, event.line());
    switch (event.event.type) {
      case YAML_SCALAR_EVENT: return scalar(event);
      case YAML_SEQUENCE_START_EVENT: return sequence(event, path, depth);
      case YAML_MAPPING_START_EVENT: return mapping(event, path, depth);
      case YAML_ALIAS_EVENT: return alias(event, depth);
      default: return at(event.line(), "expected a value");
    }
  }

  static Status check_tag(const Event& event, const yaml_char_t* tag) {
    if (tag == nullptr || text_of(tag) == "!") return {};
    return at(event.line(), fmt::format("the tag {}; values have none here", in_quotes(text_of(tag))));
  }

  /// Known under its anchor, once it is complete: an alias inside itself has nothing to stand for.
  Result<ordered_json> known(const yaml_char_t* anchor, ordered_json made) {
    if (anchor != nullptr) anchors_[text_of(anchor)] = made;
    return made;
  }

  Result<ordered_json> scalar(const Event& event) {
    const auto& of = event.event.data.scalar;
    DRIFTSCOPE_CHECK(check_tag(event, of.tag));
    const std::string text(reinterpret_cast<const char*>(of.value), of.length);
    return known(of.anchor, of.style == YAML_PLAIN_SCALAR_STYLE ? plain_scalar(text) : ordered_json(text));
  }

  Result<ordered_json> sequence(const Event& event, const std::string& path, int depth) {
    DRIFTSCOPE_CHECK(check_tag(event, event.event.data.sequence_start.tag));
    ordered_json list = ordered_json::array();
    for (;;) {
      Event item;
      DRIFTSCOPE_CHECK(next(item));
      if (item.event.type == YAML_SEQUENCE_END_EVENT) break;
      DRIFTSCOPE_TRY(ordered_json one, value(item, fmt::format("{}[{}]", path, list.size()), depth + 1));
      list.push_back(std::move(one));
    }
    return known(event.event.data.sequence_start.anchor, std::move(list));
  }

  Result<ordered_json> mapping(const Event& event, const std::string& path, int depth) {
    DRIFTSCOPE_CHECK(check_tag(event, event.event.data.mapping_start.tag));
    ordered_json object = ordered_json::object();
    for (;;) {
      Event key;
      DRIFTSCOPE_CHECK(next(key));
      if (key.event.type == YAML_MAPPING_END_EVENT) break;
      if (key.event.type != YAML_SCALAR_EVENT) return at(key.line(), "expected a text as the key");
      const auto& scalar = key.event.data.scalar;
      DRIFTSCOPE_CHECK(check_tag(key, scalar.tag));
      const std::string name(reinterpret_cast<const char*>(scalar.value), scalar.length);
      if (name == "<<" && scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return at(key.line(), "'<<' merges keys, which is not in YAML 1.2; write them out");
      if (object.contains(name)) return at(key.line(), fmt::format("{} is there twice", in_quotes(name)));
      if (object.size() >= max_json_keys)
        return limit_error(fmt::format("line {}: more than {} keys", key.line(), max_json_keys));
      Event first;
      DRIFTSCOPE_CHECK(next(first));
      DRIFTSCOPE_TRY(object[name], value(first, path.empty() ? name : path + "." + name, depth + 1));
    }
    return known(event.event.data.mapping_start.anchor, std::move(object));
  }

  static std::size_t values_in(const ordered_json& value) {
    std::size_t values = 1;
    if (value.is_structured())
      for (const ordered_json& one : value) values += values_in(one);
    return values;
  }
  /// Lists and objects inside each other.
  static int levels_of(const ordered_json& value) {
    if (!value.is_structured()) return 0;
    int inside = 0;
    for (const ordered_json& one : value) inside = std::max(inside, levels_of(one));
    return inside + 1;
  }

  Result<ordered_json> alias(const Event& event, int depth) {
    const std::string name = text_of(event.event.data.alias.anchor);
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) return at(event.line(), fmt::format("*{}: no &{} is before it", name, name));
    DRIFTSCOPE_CHECK(count(event.line(), values_in(found->second)));
    if (depth + levels_of(found->second) > max_json_depth) return too_deep(event);
    return found->second;
  }

  yaml_parser_t parser_{};
  bool good_ = false;
  std::size_t values_ = 0;
  std::map<std::string, ordered_json> anchors_;
  YamlDocument document_;
};

}  // namespace

int YamlDocument::line_of(std::string_view path) const {
  for (;;) {
    if (const auto found = lines.find(std::string(path)); found != lines.end()) return found->second;
    const std::size_t cut = path.find_last_of(".[");
    path = cut == std::string_view::npos ? std::string_view() : path.substr(0, cut);
    if (cut == std::string_view::npos && !lines.contains("")) return 1;
  }
}

Result<YamlDocument> read_yaml(std::string_view text) {
  if (text.size() > largest_text)
    return limit_error(fmt::format("{} bytes, the limit is {}", text.size(), largest_text));
  return Reader(text).read();
}

}  // namespace driftscope
