// Numbers for people: three significant digits, units, no false precision.
// Clients: tables, report. Nothing here is parsed again; JSON has the exact numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace driftscope {

/// "31 µs", "1.24 ms", "2.1 s"; "–" for 0 (not measured).
[[nodiscard]] std::string format_ns(std::int64_t ns);

/// "712 B", "18.4 kB", "1.2 GB" (powers of 1000); "–" for 0.
[[nodiscard]] std::string format_bytes(std::int64_t bytes);

/// "0", "1.19e-07", "0.0123", "4.5": three significant digits; "inf", "nan".
[[nodiscard]] std::string format_number(double x);

/// "4,704"
[[nodiscard]] std::string format_count(std::int64_t n);

/// "0", "17", "1.2e+09": a count of ULP.
[[nodiscard]] std::string format_ulp(double ulp);

/// Columns that a text takes on a terminal: code points, so that "µ" counts once.
[[nodiscard]] std::size_t display_width(std::string_view utf8);

/// At most `width` columns, the middle replaced by "…".
[[nodiscard]] std::string elide(std::string_view text, std::size_t width);

/// Files without their folders, in a text that names an input: "idx:/data/a.idx3,/data/b.idx1#7" becomes
/// "idx:a.idx3,b.idx1#7".
[[nodiscard]] std::string without_folders(std::string_view input);

/// A width that cuts nothing: for reasons and other sentences.
inline constexpr std::size_t whole_text = std::string::npos / 8;

/// A name or message from a file, safe to display: at most `width` columns, and quoted with \xNN
/// where it holds control characters or bytes that are not UTF-8.
[[nodiscard]] std::string plain_text(std::string_view text, std::size_t width);

/// The same for HTML text and attribute values.
[[nodiscard]] std::string html_text(std::string_view text, std::size_t width = 80);

/// For HTML text and attribute values.
[[nodiscard]] std::string html_escape(std::string_view text);

}  // namespace driftscope
