#include "core/dataset/picture.hpp"

#include <fmt/format.h>

#include "core/dataset/picture_header.hpp"
#include "core/dataset/stb_image.hpp"

namespace driftscope {
namespace {

/// Drops the last channel of gray + alpha or RGBA; a pixel that is not opaque is an error.
Status drop_alpha(Picture& picture) {
  const auto channels = static_cast<std::size_t>(picture.channels);
  const std::size_t kept = channels - 1;
  const std::size_t pixels = picture.pixels.size() / channels;
  for (std::size_t i = 0; i < pixels; ++i) {
    if (picture.pixels[i * channels + kept] != 255)
      return unsupported(fmt::format(
          "the pixel in row {}, column {} is transparent, and its background is undefined; flatten the image",
          i / static_cast<std::size_t>(picture.width), i % static_cast<std::size_t>(picture.width)));
    for (std::size_t c = 0; c < kept; ++c) picture.pixels[i * kept + c] = picture.pixels[i * channels + c];
  }
  picture.pixels.resize(pixels * kept);
  picture.channels = static_cast<std::int64_t>(kept);
  return {};
}

}  // namespace

std::string Picture::text() const {
  return fmt::format("{}x{} {}", height, width, channels == 1 ? "gray" : "RGB");
}

Result<Picture> decode_picture(std::span<const std::byte> bytes) {
  DRIFTSCOPE_TRY(const PictureHeader header, read_picture_header(bytes));
  auto picture = decode_with_stb(bytes);
  if (!picture.ok()) return in_context(std::move(picture).error(), std::string(header.format) + " file");
  if (picture->width != header.width || picture->height != header.height)
    return bad_input(fmt::format("{} file: its header says {}x{} pixels, its data {}x{}", header.format,
                                 header.height, header.width, picture->height, picture->width));
  if (picture->channels == 2 || picture->channels == 4) DRIFTSCOPE_CHECK(drop_alpha(*picture));
  return picture;
}

}  // namespace driftscope
