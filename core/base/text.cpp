#include "core/base/text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace driftscope {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

/// Whether the sequence of `length` bytes at i is one: C0 and DEL are one byte, C1 is U+0080 to U+009F.
bool is_control(std::string_view bytes, std::size_t i, std::size_t length) {
  const unsigned first = byte_at(bytes, i);
  if (length == 1) return first < 0x20 || first == 0x7f;
  return length == 2 && first == 0xc2 && byte_at(bytes, i + 1) < 0xa0;
}

/// U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069 (Unicode Standard Annex 9).
bool changes_direction(std::string_view bytes, std::size_t i, std::size_t length) {
  if (length == 2) return byte_at(bytes, i) == 0xd8 && byte_at(bytes, i + 1) == 0x9c;
  if (length != 3 || byte_at(bytes, i) != 0xe2) return false;
  const unsigned middle = byte_at(bytes, i + 1);
  const unsigned last = byte_at(bytes, i + 2);
  return (middle == 0x80 && (last == 0x8e || last == 0x8f || (last >= 0xaa && last <= 0xae))) ||
         (middle == 0x81 && last >= 0xa6 && last <= 0xa9);
}

/// The code point of the sequence of `length` bytes at i.
unsigned code_point(std::string_view bytes, std::size_t i, std::size_t length) {
  unsigned point = length == 1 ? byte_at(bytes, i) : byte_at(bytes, i) & (0xffu >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) point = point << 6 | (byte_at(bytes, i + k) & 0x3fu);
  return point;
}

}  // namespace

std::size_t utf8_sequence(std::string_view bytes, std::size_t i) {
  const unsigned lead = byte_at(bytes, i);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned low = 0x80;  // of the second byte: keeps out overlong forms, surrogates and > U+10FFFF
  unsigned high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  }
  if (length == 0 || bytes.size() - i < length) return 0;
  if (byte_at(bytes, i + 1) < low || byte_at(bytes, i + 1) > high) return 0;
  for (std::size_t k = 2; k < length; ++k)
    if ((byte_at(bytes, i + k) & 0xc0) != 0x80) return 0;
  return length;
}

bool valid_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = utf8_sequence(bytes, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

bool printable(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_sequence(text, i);
    if (length == 0 || is_control(text, i, length)) return false;
    i += length;
  }
  return true;
}

std::string in_quotes(std::string_view text, std::size_t limit) {
  std::string out = "'";
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_sequence(text, i);
    if (i + (length == 0 ? 1 : length) > limit) {
      out += "…";
      break;
    }
    if (length == 0 || is_control(text, i, length)) {
      for (std::size_t k = 0; k < (length == 0 ? 1 : length); ++k)
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte_at(text, i + k));
      i += length == 0 ? 1 : length;
    } else {
      out.append(text.substr(i, length));
      i += length;
    }
  }
  return out + "'";
}

std::size_t white_space(std::string_view text, std::size_t i) {
  const std::size_t length = utf8_sequence(text, i);
  if (length == 0) return 0;
  const unsigned point = code_point(text, i, length);
  const bool white = (point >= 0x09 && point <= 0x0d) || point == 0x20 || point == 0x85 || point == 0xa0 ||
                     point == 0x1680 || (point >= 0x2000 && point <= 0x200a) || point == 0x2028 ||
                     point == 0x2029 || point == 0x202f || point == 0x205f || point == 0x3000;
  return white ? length : 0;
}

std::string harmless_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    const std::size_t length = utf8_sequence(json, i);
    const std::string_view part = json.substr(i, length == 0 ? 1 : length);
    const bool layout = part == "\n" || part == "\t" || part == "\r";
    if (length > 0 && !layout && (is_control(json, i, length) || changes_direction(json, i, length)))
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code_point(json, i, length));
    else if (json.substr(i, 3) == "##[")
      out += "\\u0023";
    else
      out += part;
    i += part.size();
  }
  return out;
}

std::string harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_sequence(text, i);
    const bool stays = text[i] == '\n' || text[i] == '\t' ||
                       (length > 0 && !is_control(text, i, length) && !changes_direction(text, i, length));
    const std::string_view part = text.substr(i, length == 0 ? 1 : length);
    if (stays)
      out += part;
    else
      for (std::size_t k = 0; k < part.size(); ++k)
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte_at(part, k));
    i += part.size();
  }
  return out;
}

}  // namespace driftscope
