#include "core/gui/imgui/gl.hpp"

#include <driftscope_gl.hpp>

#include <algorithm>

namespace driftscope::gui {
namespace {

// From OpenGL's specification; missing where ImGui loads the functions natively.
constexpr GLenum gl_nearest = 0x2600;
constexpr GLenum gl_wrap_s = 0x2802;
constexpr GLenum gl_wrap_t = 0x2803;
constexpr GLenum gl_pack_alignment = 0x0D05;
constexpr GLint gl_clamp_to_edge = 0x812F;
constexpr GLenum gl_max_texture_size = 0x0D33;

}  // namespace

std::uintptr_t make_gl_texture(const Image& image) {
  GLint max_size = 0;
  glGetIntegerv(gl_max_texture_size, &max_size);
  if (image.width <= 0 || image.height <= 0 || image.width > max_size || image.height > max_size) return 0;
  GLuint texture = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, static_cast<GLint>(gl_nearest));
  glTexParameteri(GL_TEXTURE_2D, gl_wrap_s, gl_clamp_to_edge);
  glTexParameteri(GL_TEXTURE_2D, gl_wrap_t, gl_clamp_to_edge);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, static_cast<GLsizei>(image.width),
               static_cast<GLsizei>(image.height), 0, GL_RGBA, GL_UNSIGNED_BYTE, image.pixels.data());
  return texture;
}

void release_gl_texture(std::uintptr_t texture) {
  const auto name = static_cast<GLuint>(texture);
  if (name != 0) glDeleteTextures(1, &name);
}

void clear_gl(int width, int height, Colour colour) {
  const auto channel = [](std::uint8_t c) { return static_cast<float>(c) / 255.0f; };
  glViewport(0, 0, width, height);
  glClearColor(channel(colour.r), channel(colour.g), channel(colour.b), 1.0f);
  glClear(GL_COLOR_BUFFER_BIT);
}

Image read_gl_pixels(Box box, int width, int height) {
  const auto pixel = [](float x, int limit) { return std::clamp(static_cast<int>(x), 0, limit); };
  const int left = pixel(box.left, width);
  const int top = pixel(box.top, height);
  Image image{pixel(box.right, width) - left, pixel(box.bottom, height) - top, {}};
  if (image.width <= 0 || image.height <= 0) return {};
  std::vector<Colour> rows(static_cast<std::size_t>(image.width * image.height));
  glPixelStorei(gl_pack_alignment, 1);
  glReadPixels(left, height - top - static_cast<int>(image.height), static_cast<GLsizei>(image.width),
               static_cast<GLsizei>(image.height), GL_RGBA, GL_UNSIGNED_BYTE, rows.data());
  for (std::int64_t y = image.height; y-- > 0;)
    for (std::int64_t x = 0; x < image.width; ++x) {
      Colour colour = rows[static_cast<std::size_t>(y * image.width + x)];
      colour.a = 255;  // the framebuffer's alpha is meaningless
      image.pixels.push_back(colour);
    }
  return image;
}

}  // namespace driftscope::gui
