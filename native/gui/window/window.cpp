#include "native/gui/window/window.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include <algorithm>
#include <cmath>

#include "core/gui/imgui/gl.hpp"

namespace driftscope {
namespace {

std::string glfw_error() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text == nullptr ? "no reason given" : text;
}

}  // namespace

Result<std::unique_ptr<Window>> Window::open(const WindowOptions& options) {
  if (glfwInit() == GLFW_FALSE)
    return missing_error(fmt::format(
        "no window can be opened here: {}; driftscope gui needs a desktop (or Xvfb: xvfb-run driftscope gui)",
        glfw_error()));
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 2);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, options.scale > 0.0 ? GLFW_FALSE : GLFW_TRUE);
  GLFWwindow* handle = glfwCreateWindow(options.width, options.height, "Driftscope", nullptr, nullptr);
  if (handle == nullptr) {
    const std::string why = glfw_error();
    glfwTerminate();
    return missing_error(fmt::format(
        "no window with OpenGL 3.2: {}; package libgl1-mesa-dri has a driver without a GPU", why));
  }
  std::unique_ptr<Window> window(new Window(handle));
  window->fixed_scale_ = options.scale;
  glfwMakeContextCurrent(handle);
  glfwSwapInterval(1);
  glfwSetWindowSizeLimits(handle, 320, 240, GLFW_DONT_CARE, GLFW_DONT_CARE);
  glfwSetWindowUserPointer(handle, window.get());
  glfwSetDropCallback(handle, [](GLFWwindow* from, int count, const char** paths) {
    static_cast<Window*>(glfwGetWindowUserPointer(from))->drop({paths, paths + count});
  });
  ImGui::CreateContext();
  ImGui_ImplGlfw_InitForOpenGL(handle, true);
  ImGui_ImplOpenGL3_Init("#version 150");
  return window;
}

Window::~Window() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window_);
  glfwTerminate();
}

bool Window::should_close() const { return glfwWindowShouldClose(window_) == GLFW_TRUE; }

float Window::scale() const {
  if (fixed_scale_ > 0.0) return static_cast<float>(fixed_scale_);
  float x = 1.0f;
  float y = 1.0f;
  glfwGetWindowContentScale(window_, &x, &y);
  // If the framebuffer has a higher resolution than the window, ImGui scales by itself.
  int points = 1;
  int pixels = 1;
  glfwGetWindowSize(window_, &points, nullptr);
  glfwGetFramebufferSize(window_, &pixels, nullptr);
  return points > 0 && pixels > 0 ? x * static_cast<float>(points) / static_cast<float>(pixels) : x;
}

void Window::resize(int width, int height) {
  glfwSetWindowSize(window_, width, height);
  // Without a window manager it takes effect at once; with one after some events.
  for (int i = 0; i < 20; ++i) glfwWaitEventsTimeout(0.01);
}

void Window::move_pointer(float x, float y) {
  ImGui::GetIO().AddMousePosEvent(x, y);
  // Effective only while the window has the focus; without it the system's position is not queried either.
  glfwSetCursorPos(window_, static_cast<double>(x), static_cast<double>(y));
  for (int i = 0; i < 3; ++i) glfwWaitEventsTimeout(0.005);
}

void Window::wake() { glfwPostEmptyEvent(); }

void Window::measure_speed(bool on) { glfwSwapInterval(on ? 0 : 1); }

void Window::finish() const { (void)gui::read_gl_pixels({0.0f, 0.0f, 1.0f, 1.0f}, 1, 1); }

Image Window::screenshot() const { return last_; }

void Window::frame(gui::App& app, bool wait) {
  if (wait && settling_ <= 0 && !app.restless()) {
    glfwWaitEventsTimeout(2.0);
    settling_ = 4;  // ImGui needs some frames until the effect of an event is visible
  } else {
    glfwPollEvents();
    settling_ = std::max(0, settling_ - 1);
  }
  if (ImGui::GetIO().MouseWheel != 0.0f || ImGui::IsAnyMouseDown()) settling_ = 4;
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  if (width == 0 || height == 0) return;  // minimized
  app.set_display_scale(scale());
  ImGui_ImplOpenGL3_NewFrame();
  if (app.prepare()) {
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
  }
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  app.frame();
  ImGui::Render();
  gui::clear_gl(width, height, app.ground());
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  app.after_render([&](Box box) { return gui::read_gl_pixels(box, width, height); });
  if (keep_)
    last_ = gui::read_gl_pixels({0.0f, 0.0f, static_cast<float>(width), static_cast<float>(height)}, width,
                                height);
  glfwSwapBuffers(window_);
}

}  // namespace driftscope
