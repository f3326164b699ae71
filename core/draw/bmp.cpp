#include "core/draw/bmp.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/base/base64.hpp"

namespace driftscope {
namespace {

constexpr std::size_t max_colours = 256;

void put_little_endian(std::string& bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
}

void put_bgr(std::string& bytes, Colour colour) {
  for (const std::uint8_t part : {colour.b, colour.g, colour.r}) bytes += static_cast<char>(part);
}

Colour opaque(Colour colour) { return colour.a == 0 ? gap_colour : colour; }

std::uint32_t key(Colour colour) {
  const Colour shown = opaque(colour);
  return static_cast<std::uint32_t>(shown.r) << 16 | static_cast<std::uint32_t>(shown.g) << 8 | shown.b;
}

/// The colours of the image, ascending; nothing when there are too many.
std::optional<std::vector<std::uint32_t>> palette_of(const Image& image) {
  std::vector<std::uint32_t> palette;
  for (const Colour& pixel : image.pixels) {
    const auto place = std::ranges::lower_bound(palette, key(pixel));
    if (place != palette.end() && *place == key(pixel)) continue;
    if (palette.size() == max_colours) return std::nullopt;
    palette.insert(place, key(pixel));
  }
  return palette;
}

/// Rows come bottom up, each filled to a multiple of four bytes.
std::string rows_of(const Image& image, const std::optional<std::vector<std::uint32_t>>& palette) {
  std::string rows;
  for (std::int64_t y = image.height - 1; y >= 0; --y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const Colour pixel = image.pixels[static_cast<std::size_t>(y * image.width + x)];
      if (palette)
        rows += static_cast<char>(std::ranges::lower_bound(*palette, key(pixel)) - palette->begin());
      else
        put_bgr(rows, opaque(pixel));
    }
    while (rows.size() % 4 != 0) rows += '\0';
  }
  return rows;
}

}  // namespace

std::string bmp_data_uri(const Image& image) {
  if (image.pixels.empty()) return "";
  const auto palette = palette_of(image);
  const std::string rows = rows_of(image, palette);
  const std::size_t colours = palette ? palette->size() : 0;
  const std::size_t offset = 54 + 4 * colours;
  std::string bytes = "BM";  // BITMAPFILEHEADER, BITMAPINFOHEADER, colours, rows
  put_little_endian(bytes, offset + rows.size(), 4);
  put_little_endian(bytes, 0, 4);
  put_little_endian(bytes, offset, 4);
  put_little_endian(bytes, 40, 4);
  put_little_endian(bytes, static_cast<std::size_t>(image.width), 4);
  put_little_endian(bytes, static_cast<std::size_t>(image.height), 4);
  put_little_endian(bytes, 1, 2);
  put_little_endian(bytes, palette ? 8 : 24, 2);
  put_little_endian(bytes, 0, 4);
  put_little_endian(bytes, rows.size(), 4);
  put_little_endian(bytes, 0, 8);
  put_little_endian(bytes, colours, 4);
  put_little_endian(bytes, 0, 4);
  if (palette)
    for (const std::uint32_t colour : *palette) put_little_endian(bytes, colour, 4);  // as B, G, R, 0
  return "data:image/bmp;base64," + base64(bytes + rows);
}

}  // namespace driftscope
