// png_file: stb_image_write's encoder, writing to memory.
#include <climits>

#include "core/draw/picture_png.hpp"
#include "core/draw/png.hpp"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

namespace driftscope {

namespace {

std::vector<std::byte> encoded(std::int64_t width, std::int64_t height, std::int64_t channels,
                               const void* pixels, std::size_t bytes) {
  std::vector<std::byte> file;
  if (width <= 0 || height <= 0 || width > INT_MAX / channels || width * channels > INT_MAX / height ||
      static_cast<std::size_t>(width * channels * height) != bytes)
    return file;
  const auto append = [](void* to, void* data, int size) {
    const auto* some = static_cast<const std::byte*>(data);
    auto& all = *static_cast<std::vector<std::byte>*>(to);
    all.insert(all.end(), some, some + size);
  };
  stbi_write_png_to_func(append, &file, static_cast<int>(width), static_cast<int>(height),
                         static_cast<int>(channels), pixels, static_cast<int>(width * channels));
  return file;
}

}  // namespace

std::vector<std::byte> png_file(const Image& image) {
  return encoded(image.width, image.height, 4, image.pixels.data(), image.pixels.size() * 4);
}

std::vector<std::byte> png_file(const Picture& picture) {
  if (picture.channels != 1 && picture.channels != 3) return {};
  return encoded(picture.width, picture.height, picture.channels, picture.pixels.data(),
                 picture.pixels.size());
}

}  // namespace driftscope
