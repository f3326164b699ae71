#include "native/text/pattern.hpp"

#include <fmt/format.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "native/text/unicode.hpp"

namespace driftscope::texts {
namespace {

constexpr std::string_view space_class = R"(\p{White_Space})";
constexpr std::string_view word_class = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

// PCRE2's \s and \w differ from Oniguruma's in a few characters (U+180E; circled letters, marks).
Result<std::string> for_pcre2(const std::string& source) {
  std::string made;
  bool inside = false;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (c == '\\' && i + 1 < source.size()) {
      const char next = source[++i];
      if (next == 's')
        made += inside ? std::string(space_class) : fmt::format("[{}]", space_class);
      else if (next == 'S' && !inside)
        made += fmt::format("[^{}]", space_class);
      else if (next == 'w')
        made += inside ? std::string(word_class) : fmt::format("[{}]", word_class);
      else if (next == 'W' && !inside)
        made += fmt::format("[^{}]", word_class);
      else if (next == 'h' || next == 'H')
        return unsupported(
            fmt::format("\\{}, which is a hexadecimal digit there and a space elsewhere", next));
      else
        made += {c, next};
      continue;
    }
    if (inside && c == '&' && source.compare(i, 2, "&&") == 0)
      return unsupported("an intersection of classes, &&");
    if (inside && c == '[' && source.compare(i, 2, "[:") != 0) return unsupported("a class inside a class");
    if (inside && source.compare(i, 2, "[:") == 0) {
      const auto end = source.find(":]", i);
      if (end == std::string::npos) return bad_input("a class [:…:] that does not end");
      made += source.substr(i, end + 2 - i);
      i = end + 1;
      continue;
    }
    if (!inside && c == '[') {
      inside = true;
      made += c;
      if (source.compare(i + 1, 1, "^") == 0) made += source[++i];
      if (source.compare(i + 1, 1, "]") == 0) made += "\\]", ++i;
      continue;
    }
    if (inside && c == ']') inside = false;
    made += c;
  }
  return made;
}

}  // namespace

Result<Pattern> Pattern::regex(const std::string& source) {
  auto translated = for_pcre2(source);
  if (!translated.ok())
    return unsupported(
        fmt::format("the regular expression {} has {}", in_quotes(source, 200), translated.error().message));
  int error = 0;
  std::size_t offset = 0;
  pcre2_code* const code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated->data()), translated->size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NO_UTF_CHECK, &error, &offset, nullptr);
  if (code == nullptr) {
    PCRE2_UCHAR message[200] = {};
    pcre2_get_error_message(error, message, sizeof message);
    return unsupported(fmt::format(
        "the regular expression {} cannot be compiled: {}, at {}", in_quotes(source, 200),
        reinterpret_cast<const char*>(message),
        in_quotes(std::string_view(*translated).substr(std::min(offset, translated->size())), 40)));
  }
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // where there is none it is interpreted
  Pattern pattern;
  pattern.code_ = std::shared_ptr<void>(code, [](void* p) { pcre2_code_free(static_cast<pcre2_code*>(p)); });
  return pattern;
}

Pattern Pattern::literal(std::string text) {
  Pattern pattern;
  pattern.text_ = std::move(text);
  return pattern;
}

Result<Pattern> Pattern::read(const nlohmann::json& json, const std::string& where) {
  if (json.is_object() && json.size() == 1) {
    const std::string& kind = json.begin().key();
    const nlohmann::json& value = json.begin().value();
    if (value.is_string() && kind == "String") return literal(value.get<std::string>());
    if (value.is_string() && kind == "Regex") {
      auto made = regex(value.get<std::string>());
      if (!made.ok()) return in_context(std::move(made).error(), where);
      return made;
    }
  }
  return bad_input(fmt::format("{}: expected {{\"String\": …}} or {{\"Regex\": …}}", where));
}

Result<std::vector<Part>> Pattern::parts(std::string_view text) const {
  std::vector<Part> parts;
  std::size_t last = 0;
  const auto add = [&](std::size_t begin, std::size_t end) {
    if (last != begin) parts.push_back({last, begin, false});
    parts.push_back({begin, end, true});
    last = end;
  };
  if (!code_) {
    if (!text_.empty())
      for (std::size_t at = text.find(text_); at != std::string_view::npos;
           at = text.find(text_, at + text_.size()))
        add(at, at + text_.size());
  } else {
    auto* const code = static_cast<pcre2_code*>(code_.get());
    const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data(
        pcre2_match_data_create_from_pattern(code, nullptr), &pcre2_match_data_free);
    for (std::size_t at = 0; at <= text.size();) {
      const auto match = [&](std::uint32_t options) {
        return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                           PCRE2_NO_UTF_CHECK | options, data.get(), nullptr);
      };
      int found = match(0);
      // Compiled code has a small stack; the interpreter takes what it needs.
      if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = match(PCRE2_NO_JIT);
      if (found == PCRE2_ERROR_NOMATCH) break;
      if (found < 0)
        return limit_error(fmt::format("a regular expression gave up on a text (PCRE2: {})", found));
      const PCRE2_SIZE* const range = pcre2_get_ovector_pointer(data.get());
      const bool empty = range[0] >= range[1];
      if (!(empty && range[0] == last && last > 0)) add(range[0], std::max(range[0], range[1]));
      at = range[1];
      if (empty) at += at < text.size() ? character_at(text, at).bytes : 1;
    }
  }
  if (last != text.size()) parts.push_back({last, text.size(), false});
  return parts;
}

Result<std::string> Pattern::replaced(std::string_view text, std::string_view by) const {
  DRIFTSCOPE_TRY(const auto found, parts(text));
  std::string made;
  for (const Part& part : found) made += part.matches ? by : text.substr(part.begin, part.end - part.begin);
  return made;
}

Result<Behavior> read_behavior(const std::string& name, const std::string& where) {
  if (name == "Removed") return Behavior::removed;
  if (name == "Isolated") return Behavior::isolated;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  return unsupported(
      fmt::format("{}.behavior is {}; expected Removed, Isolated, MergedWithPrevious, "
                  "MergedWithNext or Contiguous",
                  where, in_quotes(name)));
}

std::vector<Part> split_parts(const std::vector<Part>& parts, Behavior behavior) {
  if (behavior == Behavior::removed) return parts;
  std::vector<Part> made;
  bool before = false;
  const auto keep = [&](const Part& part) { made.push_back({part.begin, part.end, false}); };
  if (behavior == Behavior::merged_with_next) {
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part->matches && !before && !made.empty())
        made.back().begin = part->begin;
      else
        keep(*part);
      before = part->matches;
    }
    std::ranges::reverse(made);
    return made;
  }
  for (const Part& part : parts) {
    const bool joins = behavior == Behavior::contiguous             ? part.matches == before
                       : behavior == Behavior::merged_with_previous ? part.matches && !before
                                                                    : false;
    if (joins && !made.empty())
      made.back().end = part.end;
    else
      keep(part);
    before = part.matches;
  }
  return made;
}

}  // namespace driftscope::texts
