#include "core/report/picture.hpp"

#include <algorithm>
#include <cmath>

namespace driftscope {
namespace {

void put_little_endian(std::string& bytes, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
}

/// BITMAPFILEHEADER, BITMAPINFOHEADER and the colour table of a picture whose rows come bottom up.
std::string bmp_header(std::uint32_t width, std::uint32_t height, std::uint32_t bits, std::uint32_t data_size,
                       const Palette* palette) {
  const std::uint32_t colours = palette == nullptr ? 0 : 256;
  const std::uint32_t offset = 54 + 4 * colours;
  std::string bytes = "BM";
  put_little_endian(bytes, offset + data_size, 4);
  put_little_endian(bytes, 0, 4);
  put_little_endian(bytes, offset, 4);
  put_little_endian(bytes, 40, 4);
  put_little_endian(bytes, width, 4);
  put_little_endian(bytes, height, 4);
  put_little_endian(bytes, 1, 2);
  put_little_endian(bytes, bits, 2);
  put_little_endian(bytes, 0, 4);
  put_little_endian(bytes, data_size, 4);
  for (int i = 0; i < 2; ++i) put_little_endian(bytes, 0, 4);
  put_little_endian(bytes, colours, 4);
  put_little_endian(bytes, 0, 4);
  if (palette != nullptr)
    for (const Rgb& c : *palette)
      for (const std::uint8_t part : {c.b, c.g, c.r, std::uint8_t{0}}) bytes += static_cast<char>(part);
  return bytes;
}

std::string bmp_data_uri(std::int64_t width, std::int64_t height, std::uint32_t bits, const std::string& rows,
                         const Palette* palette) {
  return "data:image/bmp;base64," +
         base64(bmp_header(static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), bits,
                           static_cast<std::uint32_t>(rows.size()), palette) +
                rows);
}

}  // namespace

std::string picture_data_uri(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (tensor.dtype() != DType::float32 || shape.size() != 4 || tensor.elements() == 0) return "";
  const std::int64_t channels = shape[1];
  const std::int64_t height = shape[2];
  const std::int64_t width = shape[3];
  if ((channels != 1 && channels != 3) || height > 512 || width > 512) return "";
  const auto pixels = tensor.values<float>().first(static_cast<std::size_t>(channels * height * width));
  float low = INFINITY;
  float high = -INFINITY;
  for (const float x : pixels) {
    if (!std::isfinite(x)) continue;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  const double range = high > low ? static_cast<double>(high) - static_cast<double>(low) : 1.0;
  const auto grey = [&](std::int64_t c, std::int64_t y, std::int64_t x) {
    const float value = pixels[static_cast<std::size_t>((c * height + y) * width + x)];
    if (!std::isfinite(value)) return static_cast<char>(0);
    const double share = (static_cast<double>(value) - static_cast<double>(low)) / range;
    return static_cast<char>(static_cast<int>(share * 255.0 + 0.5));
  };
  std::string rows;
  for (std::int64_t y = height - 1; y >= 0; --y) {
    for (std::int64_t x = 0; x < width; ++x)
      for (const std::int64_t c : {2, 1, 0}) rows += grey(channels == 1 ? 0 : c, y, x);  // BGR
    while (rows.size() % 4 != 0) rows += '\0';
  }
  return bmp_data_uri(width, height, 24, rows, nullptr);
}

std::string indexed_data_uri(std::int64_t width, std::int64_t height, std::span<const std::uint8_t> entries,
                             const Palette& palette) {
  std::string rows;
  for (std::int64_t y = height - 1; y >= 0; --y) {
    for (std::int64_t x = 0; x < width; ++x)
      rows += static_cast<char>(entries[static_cast<std::size_t>(y * width + x)]);
    while (rows.size() % 4 != 0) rows += '\0';
  }
  return bmp_data_uri(width, height, 8, rows, &palette);
}

}  // namespace driftscope
