// png_file: stb_image_write's encoder, writing to memory.
#include <climits>

#include "core/draw/png.hpp"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

namespace driftscope {

std::vector<std::byte> png_file(const Image& image) {
  std::vector<std::byte> file;
  const std::int64_t row = image.width * 4;
  if (image.width <= 0 || image.height <= 0 || row > INT_MAX || row * image.height > INT_MAX ||
      image.width * image.height != static_cast<std::int64_t>(image.pixels.size()))
    return file;
  const auto append = [](void* to, void* data, int size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    static_cast<std::vector<std::byte>*>(to)->insert(static_cast<std::vector<std::byte>*>(to)->end(), bytes,
                                                     bytes + size);
  };
  stbi_write_png_to_func(append, &file, static_cast<int>(image.width), static_cast<int>(image.height), 4,
                         image.pixels.data(), static_cast<int>(row));
  return file;
}

}  // namespace driftscope
