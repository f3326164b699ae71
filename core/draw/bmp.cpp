#include "core/draw/bmp.hpp"

#include <cstdint>
#include <map>

#include "core/base/base64.hpp"

namespace driftscope {
namespace {

constexpr std::size_t max_colours = 256;

void put_little_endian(std::string& bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
}

/// 0xRRGGBB, which is B, G, R in little endian.
std::uint32_t key(Colour colour) {
  const Colour shown = colour.a == 0 ? gap_colour : colour;
  return static_cast<std::uint32_t>(shown.r) << 16 | static_cast<std::uint32_t>(shown.g) << 8 | shown.b;
}

}  // namespace

std::string bmp_data_uri(const Image& image) {
  if (image.pixels.empty()) return "";
  std::map<std::uint32_t, std::uint8_t> palette;  // colours, and their places
  for (const Colour& pixel : image.pixels)
    if (palette.size() <= max_colours) palette.emplace(key(pixel), std::uint8_t{0});
  const bool indexed = palette.size() <= max_colours;
  if (!indexed) palette.clear();
  std::uint8_t place = 0;
  std::string colours;
  for (auto& [colour, at] : palette) {
    at = place++;
    put_little_endian(colours, colour, 4);
  }
  std::string rows;  // bottom up, each filled to a multiple of four bytes
  for (std::int64_t y = image.height - 1; y >= 0; --y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const std::uint32_t colour = key(image.pixels[static_cast<std::size_t>(y * image.width + x)]);
      put_little_endian(rows, indexed ? palette.at(colour) : colour, indexed ? 1 : 3);
    }
    while (rows.size() % 4 != 0) rows += '\0';
  }
  constexpr std::size_t headers = 54;
  std::string bytes = "BM";  // BITMAPFILEHEADER, then BITMAPINFOHEADER
  const auto put = [&](std::size_t value, int count) { put_little_endian(bytes, value, count); };
  put(headers + colours.size() + rows.size(), 4);
  put(0, 4);
  put(headers + colours.size(), 4);
  put(40, 4);
  put(static_cast<std::size_t>(image.width), 4);
  put(static_cast<std::size_t>(image.height), 4);
  put(1, 2);
  put(indexed ? 8 : 24, 2);
  put(0, 4);
  put(rows.size(), 4);
  put(0, 8);
  put(palette.size(), 4);
  put(0, 4);
  return "data:image/bmp;base64," + base64(bytes + colours + rows);
}

}  // namespace driftscope
