#include "native/text/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/base/text.hpp"

namespace driftscope::texts {

Character character_at(std::string_view text, std::size_t i) {
  utf8proc_int32_t code = 0;
  const auto size = std::min<std::size_t>(text.size() - i, 4);
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + i),
                                      static_cast<utf8proc_ssize_t>(size), &code);
  return bytes > 0 ? Character{code, static_cast<std::size_t>(bytes)} : Character{0xfffd, 1};
}

void append_character(std::string& text, std::int32_t code) {
  utf8proc_uint8_t bytes[4];
  const auto size = utf8proc_encode_char(code, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

bool is_space(std::int32_t code) {
  return (code >= 9 && code <= 13) || code == 0x20 || code == 0x85 || code == 0xa0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
         code == 0x205f || code == 0x3000;
}

bool is_other(std::int32_t code) {
  const auto category = utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO || category == UTF8PROC_CATEGORY_CS;
}

bool is_mark(std::int32_t code) {
  const auto category = utf8proc_category(code);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing(std::int32_t code) { return utf8proc_category(code) == UTF8PROC_CATEGORY_MN; }

bool is_numeric(std::int32_t code) {
  const auto category = utf8proc_category(code);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(std::int32_t code) {
  if (code < 0x80)
    return (code >= 33 && code <= 47) || (code >= 58 && code <= 64) || (code >= 91 && code <= 96) ||
           (code >= 123 && code <= 126);
  const auto category = utf8proc_category(code);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_word_part(std::int32_t code) {
  const auto category = utf8proc_category(code);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) || is_mark(code) ||
         category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_PC || code == 0x200c || code == 0x200d;
}

std::string lower_case(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto [code, bytes] = character_at(text, i);
    append_character(lower, code == 0x130 ? 'i' : utf8proc_tolower(code));
    if (code == 0x130) append_character(lower, 0x307);  // the only one that becomes two
    i += bytes;
  }
  return lower;
}

std::string normal_form(std::string_view text, NormalForm form) {
  int options = UTF8PROC_STABLE;
  options |= form == NormalForm::nfc || form == NormalForm::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::nfkc || form == NormalForm::nfkd) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* made = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &made,
                                 static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, &std::free);
  if (size < 0) return std::string(text);  // only for bytes that are not UTF-8, which callers refuse
  return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(size)};
}

std::vector<std::size_t> graphemes(std::string_view text) {
  std::vector<std::size_t> starts;
  utf8proc_int32_t state = 0;
  std::int32_t before = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto [code, bytes] = character_at(text, i);
    if (i == 0 || utf8proc_grapheme_break_stateful(before, code, &state)) starts.push_back(i);
    before = code;
    i += bytes;
  }
  return starts;
}

std::string lossy_utf8(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size();) {
    if (const std::size_t whole = utf8_sequence(bytes, i); whole > 0) {
      text += bytes.substr(i, whole);
      i += whole;
      continue;
    }
    text += "\xef\xbf\xbd";
    // The longest start of a well-formed sequence (The Unicode Standard, table 3-7).
    const auto at = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0;
    };
    const int first = at(0), second = at(1), third = at(2);
    const auto tail = [](int byte) { return byte >= 0x80 && byte <= 0xbf; };
    std::size_t skipped = 1;
    const bool three = first >= 0xe0 && first <= 0xef && tail(second) && !(first == 0xe0 && second < 0xa0) &&
                       !(first == 0xed && second > 0x9f);
    const bool four = first >= 0xf0 && first <= 0xf4 && tail(second) && !(first == 0xf0 && second < 0x90) &&
                      !(first == 0xf4 && second > 0x8f);
    if (three || four) skipped = four && tail(third) ? 3 : 2;
    i += skipped;
  }
  return text;
}

}  // namespace driftscope::texts
