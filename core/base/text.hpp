// Text that came from a file, on its way into a message or a name.
// Clients: the readers, graph/build, everything that quotes a name. It formats nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace driftscope {

/// Bytes of the well-formed UTF-8 sequence that starts at i, 0 when there is none; i < bytes.size().
[[nodiscard]] std::size_t utf8_sequence(std::string_view bytes, std::size_t i);

/// Whether the bytes are well-formed UTF-8 (The Unicode Standard, table 3-7).
[[nodiscard]] bool valid_utf8(std::string_view bytes);

/// Whether the text can be shown as it is: UTF-8 without control characters (C0, DEL, C1), which a
/// terminal would interpret.
[[nodiscard]] bool printable(std::string_view text);

/// 'text' for a message: control characters and bytes that are not UTF-8 become \xNN, and what is
/// longer than `limit` bytes is cut with "…".
[[nodiscard]] std::string in_quotes(std::string_view text, std::size_t limit = 80);

/// Text of any origin for a terminal or a log: line breaks and tabs stay; other control characters, bytes
/// that are not UTF-8, and characters that change the direction of text (which can disguise it) become \xNN.
[[nodiscard]] std::string harmless(std::string_view text);

/// A JSON document for a terminal or a log: such characters, and "##[" (a command to GitHub Actions), are
/// escaped in its strings, the only place in which they can be.
[[nodiscard]] std::string harmless_json(std::string_view json);

/// Bytes of the character of Unicode's White_Space that starts at i; 0 when there is none.
[[nodiscard]] std::size_t white_space(std::string_view text, std::size_t i);

}  // namespace driftscope
