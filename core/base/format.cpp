#include "core/base/format.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

std::string with_unit(double value, std::string_view unit) {
  if (value < 10.0) return fmt::format("{:.2f} {}", value, unit);
  if (value < 100.0) return fmt::format("{:.1f} {}", value, unit);
  return fmt::format("{:.0f} {}", value, unit);
}

bool continues_code_point(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string format_ns(std::int64_t ns) {
  if (ns <= 0) return "–";
  const double t = static_cast<double>(ns);
  if (t < 1e6) return with_unit(t / 1e3, "µs");
  if (t < 1e9) return with_unit(t / 1e6, "ms");
  return with_unit(t / 1e9, "s");
}

std::string format_bytes(std::int64_t bytes) {
  if (bytes <= 0) return "–";
  if (bytes < 1000) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 4> units = {"kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes) / 1e3;
  std::size_t unit = 0;
  for (; value >= 1000.0 && unit + 1 < units.size(); ++unit) value /= 1e3;
  return with_unit(value, units[unit]);
}

std::string format_count(std::int64_t n) {
  const std::string digits = fmt::format("{}", n);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t left = digits.size() - i;
    if (left % 3 == 0 && i > 0 && digits[i - 1] != '-') text += ',';
    text += digits[i];
  }
  return text;
}

std::string format_number(double x) {
  if (x == 0.0) return "0";
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return fmt::format("{:.3g}", x);
}

std::string format_ulp(double ulp) {
  if (!std::isfinite(ulp)) return format_number(ulp);
  return ulp < 1e6 ? fmt::format("{:.0f}", ulp) : fmt::format("{:.2g}", ulp);
}

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  for (const char c : utf8)
    if (!continues_code_point(c)) ++width;
  return width;
}

std::string elide(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width < 3) return std::string(text.substr(0, width));
  const std::size_t head = (width - 1) / 2;
  const std::size_t tail = width - 1 - head;
  // Byte offset of the code point with this index.
  const auto offset_of = [&](std::size_t index) {
    std::size_t offset = 0;
    for (std::size_t seen = 0; offset < text.size(); ++offset) {
      if (continues_code_point(text[offset])) continue;
      if (seen++ == index) break;
    }
    return offset;
  };
  const std::size_t total = display_width(text);
  return std::string(text.substr(0, offset_of(head))) + "…" +
         std::string(text.substr(offset_of(total - tail)));
}

std::string without_folders(std::string_view input) {
  std::string made;
  for (std::string_view rest = input; !rest.empty();) {
    // The text between these separators names one file, or a folder that ends with a slash.
    const std::string_view part = rest.substr(0, rest.find_first_of(":,=") + 1);
    const std::string_view piece = part.empty() ? rest : part;
    const std::size_t end = piece.find_last_not_of("/:,=");
    const std::size_t slash = end == std::string_view::npos ? end : piece.rfind('/', end);
    made += slash == std::string_view::npos ? piece : piece.substr(slash + 1);
    rest.remove_prefix(piece.size());
  }
  return made;
}

std::string plain_text(std::string_view text, std::size_t width) {
  return elide(printable(text) ? std::string(text) : in_quotes(text, 4 * width), width);
}

std::string html_text(std::string_view text, std::size_t width) {
  return html_escape(plain_text(text, width));
}

std::string html_escape(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

}  // namespace driftscope
