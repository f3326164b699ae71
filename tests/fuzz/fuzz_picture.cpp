// Any bytes as a picture file, or as a description of pictures, applied to a small picture;
// the first byte says which.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/dataset/preprocess.hpp"
#include "core/dataset/resize.hpp"

namespace {

using namespace driftscope;

/// What is decoded has as many pixels as it says, and can be resized.
void picture(std::span<const std::byte> bytes) {
  const auto decoded = decode_picture(bytes);
  if (!decoded.ok()) return;
  const auto size = static_cast<std::size_t>(decoded->channels * decoded->height * decoded->width);
  if (decoded->pixels.size() != size || (decoded->channels != 1 && decoded->channels != 3)) std::abort();
  const auto small = resize_bilinear(*decoded, 5, 7, true);
  if (small.ok() && small->pixels.size() != static_cast<std::size_t>(decoded->channels * 35)) std::abort();
}

/// Every description that is accepted gives a tensor or an error.
void description(std::string_view text) {
  auto how = parse_preprocess(text);
  if (!how.ok()) return;
  if (how->height * how->width > 1 << 16 || how->shorter_side > 256) return;  // only slow
  const Picture colour{.channels = 3, .height = 2, .width = 3, .pixels = std::vector<std::uint8_t>(18, 9)};
  (void)preprocess(*how, colour);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  if (data[0] % 2 == 0) {
    picture(bytes);
  } else {
    description({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return 0;
}
