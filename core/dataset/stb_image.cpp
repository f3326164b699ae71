// The plain C paths of stb_image for PNG and JPEG, without files and without SIMD. Its memory comes from
// here: a stream that unpacks to more than any picture within the limits needs is rejected.
#include "core/dataset/stb_image.hpp"

#include <fmt/format.h>

#include <climits>
#include <cstdlib>

namespace {

/// RGBA of the largest picture, its filter bytes, and room for stb to double what it fills.
constexpr std::size_t largest_allocation = std::size_t{1} << 28;

/// Zeros: a scan whose tables were never defined must not read old contents.
void* allocate(std::size_t size) { return size > largest_allocation ? nullptr : std::calloc(size, 1); }

void* reallocate(void* old, std::size_t size) {
  return size > largest_allocation ? nullptr : std::realloc(old, size);
}

}  // namespace

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_NO_SIMD
#define STBI_NO_LINEAR
#define STBI_MAX_DIMENSIONS 16384
#define STBI_MALLOC(size) allocate(size)
#define STBI_REALLOC(old, size) reallocate(old, size)
#define STBI_FREE(block) std::free(block)
#define STBI_ASSERT(condition) ((void)0)
#include <stb/stb_image.h>

namespace driftscope {

Result<Picture> decode_with_stb(std::span<const std::byte> bytes) {
  if (bytes.size() > static_cast<std::size_t>(INT_MAX))
    return limit_error(fmt::format("{} bytes, the limit is {}", bytes.size(), INT_MAX));
  int width = 0;
  int height = 0;
  int channels = 0;
  stbi_uc* pixels = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                                          static_cast<int>(bytes.size()), &width, &height, &channels, 0);
  if (pixels == nullptr) return bad_input(fmt::format("it is damaged or unusual: {}", stbi_failure_reason()));
  Picture picture{.channels = channels, .height = height, .width = width, .pixels = {}};
  picture.pixels.assign(pixels, pixels + static_cast<std::size_t>(channels) *
                                             static_cast<std::size_t>(height) *
                                             static_cast<std::size_t>(width));
  std::free(pixels);
  return picture;
}

}  // namespace driftscope
