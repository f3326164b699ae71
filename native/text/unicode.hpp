// What tokenizers ask of Unicode, from utf8proc: classes of characters, case, normal forms. Texts are
// well-formed UTF-8. Clients: native/text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace driftscope::texts {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

struct Character {
  std::int32_t code = 0;
  std::size_t bytes = 1;
};
/// The character that starts at `i`, which is inside the text.
[[nodiscard]] Character character_at(std::string_view text, std::size_t i);
void append_character(std::string& text, std::int32_t code);

[[nodiscard]] bool is_space(std::int32_t code);               ///< White_Space
[[nodiscard]] bool is_other(std::int32_t code);               ///< control, format, private use
[[nodiscard]] bool is_mark(std::int32_t code);                ///< Mn, Mc, Me
[[nodiscard]] bool is_nonspacing(std::int32_t code);          ///< Mn
[[nodiscard]] bool is_numeric(std::int32_t code);             ///< Nd, Nl, No
[[nodiscard]] bool is_punctuation(std::int32_t code);         ///< P*, and ASCII's symbols
[[nodiscard]] bool is_word_part(std::int32_t code);           ///< letters, marks, digits, connectors
[[nodiscard]] std::string lower_case(std::string_view text);  ///< of each character by itself
[[nodiscard]] std::string normal_form(std::string_view text, NormalForm form);
/// Where extended grapheme clusters begin.
[[nodiscard]] std::vector<std::size_t> graphemes(std::string_view text);
/// Bytes that are no UTF-8 become U+FFFD, one for each part that could have begun a character.
[[nodiscard]] std::string lossy_utf8(std::string_view bytes);

}  // namespace driftscope::texts
