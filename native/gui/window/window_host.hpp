// The desktop's host with textures of the window's OpenGL context. Client: main.
#pragma once

#include "core/gui/imgui/gl.hpp"
#include "native/gui/desktop_host.hpp"

namespace driftscope {

class WindowHost final : public DesktopHost {
 public:
  using DesktopHost::DesktopHost;
  std::uintptr_t make_texture(const Image& image) override { return gui::make_gl_texture(image); }
  void release_texture(std::uintptr_t texture) override { gui::release_gl_texture(texture); }
};

}  // namespace driftscope
