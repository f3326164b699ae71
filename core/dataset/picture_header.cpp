// Compiled for size on the web (cmake/core.cmake).
#include "core/dataset/picture_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/dataset/description_fields.hpp"
#include "core/dataset/picture.hpp"

namespace driftscope {
namespace {

constexpr std::array<std::uint8_t, 8> png_signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

unsigned byte_at(std::span<const std::byte> bytes, std::size_t i) {
  return std::to_integer<unsigned>(bytes[i]);
}

std::int64_t big_endian(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value * 256 + byte_at(bytes, at + i);
  return value;
}

Error cut_short(const char* format, std::size_t size) {
  return bad_input(
      fmt::format("{} file: it ends after {} bytes, before its end marker: it was truncated", format, size));
}

Status check_size(const PictureHeader& header) {
  const auto fits = [](std::int64_t side) { return side > 0 && side <= largest_sample_side; };
  if (!fits(header.width) || !fits(header.height))
    return limit_error(fmt::format("{} file: it declares {}x{} pixels, each side may be 1 to {}",
                                   header.format, header.height, header.width, largest_sample_side));
  if (header.width * header.height > max_picture_pixels)
    return limit_error(fmt::format("{} file: it declares {}x{} pixels, more than {} in all", header.format,
                                   header.height, header.width, max_picture_pixels));
  return {};
}

/// Signature, IHDR, any chunks, IEND; each chunk is length, type, data, checksum.
Result<PictureHeader> read_png(std::span<const std::byte> bytes) {
  constexpr std::size_t ihdr_bytes = 13;
  constexpr std::size_t around_data = 12;
  PictureHeader header{.format = "PNG"};
  bool data = false;
  for (std::size_t at = png_signature.size();;) {
    if (bytes.size() - at < around_data) return cut_short("PNG", bytes.size());
    const auto length = static_cast<std::uint64_t>(big_endian(bytes, at, 4));
    const std::string_view type(reinterpret_cast<const char*>(bytes.data()) + at + 4, 4);
    if (bytes.size() - at - around_data < length) return cut_short("PNG", bytes.size());
    if (header.width == 0) {
      if (type != "IHDR" || length != ihdr_bytes)
        return bad_input("PNG file: it does not begin with its header (IHDR)");
      header.width = big_endian(bytes, at + 8, 4);
      header.height = big_endian(bytes, at + 12, 4);
      DRIFTSCOPE_CHECK(check_size(header));
      if (byte_at(bytes, at + 16) == 16)
        return unsupported("PNG file: 16 bits per channel, only 8 are supported; convert it");
    }
    data = data || type == "IDAT";
    if (type == "IEND") break;
    at += around_data + static_cast<std::size_t>(length);
  }
  if (!data) return bad_input("PNG file: it contains no pixels (no IDAT)");
  return header;
}

/// The frame header: SOF marker segment at `at`, after its two marker bytes.
Status read_frame(std::span<const std::byte> bytes, std::size_t at, std::size_t length, unsigned marker,
                  PictureHeader& header) {
  constexpr unsigned last_supported = 0xc2;
  if (marker > last_supported)
    return unsupported(fmt::format(
        "JPEG file: process {:#04x} (lossless, hierarchical or arithmetic), only baseline and progressive "
        "are supported; convert it",
        marker));
  if (length < 8) return bad_input("JPEG file: its frame header is too short");
  if (const unsigned bits = byte_at(bytes, at + 2); bits != 8)
    return unsupported(fmt::format("JPEG file: {} bits per channel, only 8 are supported; convert it", bits));
  header.height = big_endian(bytes, at + 3, 2);
  header.width = big_endian(bytes, at + 5, 2);
  DRIFTSCOPE_CHECK(check_size(header));
  const unsigned components = byte_at(bytes, at + 7);
  if (components == 4)
    return unsupported("JPEG file: four components (CMYK), only gray and colour are supported; convert it");
  if (components != 1 && components != 3)
    return unsupported(
        fmt::format("JPEG file: {} components, only 1 (gray) or 3 (colour) are supported", components));
  return {};
}

/// DHT's tables: a class, 16 counts of codes, the codes. stb assumes that no table has more than 255
/// (it uses index 255 as a marker); no real one has.
Status check_huffman_tables(std::span<const std::byte> tables) {
  constexpr std::size_t header = 17;
  constexpr std::size_t max_codes = 255;
  while (!tables.empty()) {
    if (tables.size() < header) return bad_input("JPEG file: a Huffman table is truncated");
    std::size_t codes = 0;
    for (std::size_t i = 1; i < header; ++i) codes += byte_at(tables, i);
    if (codes > max_codes || codes > tables.size() - header)
      return bad_input(fmt::format("JPEG file: a Huffman table of {} codes: it is damaged", codes));
    tables = tables.subspan(header + codes);
  }
  return {};
}

/// Where the marker after a scan's entropy-coded data begins; the size when there is none.
std::size_t after_scan(std::span<const std::byte> bytes, std::size_t at) {
  for (; at + 1 < bytes.size(); ++at) {
    const unsigned next = byte_at(bytes, at + 1);
    const bool restart = next >= 0xd0 && next <= 0xd7;
    if (byte_at(bytes, at) == 0xff && next != 0 && next != 0xff && !restart) return at;
  }
  return bytes.size();
}

/// Marker segments from SOI to EOI.
Result<PictureHeader> read_jpeg(std::span<const std::byte> bytes) {
  constexpr unsigned dht = 0xc4;
  constexpr unsigned eoi = 0xd9;
  constexpr unsigned sos = 0xda;
  PictureHeader header{.format = "JPEG"};
  bool scan = false;
  for (std::size_t at = 2;;) {
    if (at >= bytes.size() || bytes.size() - at < 2) return cut_short("JPEG", bytes.size());
    if (byte_at(bytes, at) != 0xff)
      return bad_input(fmt::format("JPEG file: no marker at byte {}: it is damaged", at));
    const unsigned marker = byte_at(bytes, at + 1);
    if (marker == 0xff) {  // a fill byte
      ++at;
      continue;
    }
    if (marker == eoi) break;
    if (bytes.size() - at < 4) return cut_short("JPEG", bytes.size());
    const auto length = static_cast<std::size_t>(big_endian(bytes, at + 2, 2));
    if (length < 2) return bad_input(fmt::format("JPEG file: a segment of {} bytes at {}", length, at));
    if (bytes.size() - at - 2 < length) return cut_short("JPEG", bytes.size());
    const bool tables = marker == 0xc4 || marker == 0xc8 || marker == 0xcc;
    if (marker >= 0xc0 && marker <= 0xcf && !tables) {
      if (header.width != 0) return bad_input("JPEG file: it contains two frames");
      DRIFTSCOPE_CHECK(read_frame(bytes, at + 2, length, marker, header));
    }
    if (marker == dht) DRIFTSCOPE_CHECK(check_huffman_tables(bytes.subspan(at + 4, length - 2)));
    if (marker == sos) scan = true;
    at = marker == sos ? after_scan(bytes, at + 2 + length) : at + 2 + length;
  }
  if (header.width == 0 || !scan) return bad_input("JPEG file: it contains no image");
  return header;
}

}  // namespace

Result<PictureHeader> read_picture_header(std::span<const std::byte> bytes) {
  const auto starts = std::as_bytes(std::span(png_signature));
  if (bytes.size() >= starts.size() && std::ranges::equal(bytes.first(starts.size()), starts))
    return read_png(bytes);
  if (bytes.size() >= 3 && byte_at(bytes, 0) == 0xff && byte_at(bytes, 1) == 0xd8 &&
      byte_at(bytes, 2) == 0xff)
    return read_jpeg(bytes);
  return bad_input(fmt::format("neither a PNG nor a JPEG file ({} bytes)", bytes.size()));
}

}  // namespace driftscope
