// The window: GLFW and OpenGL 3, ImGui on it, one frame at a time. Clients: main, script.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/result.hpp"
#include "core/gui/imgui/app.hpp"

struct GLFWwindow;

namespace driftscope {

struct WindowOptions {
  int width = 1280;
  int height = 800;
  double scale = 0.0;  ///< 0: the display's
};

class Window {
 public:
  /// Errors: missing when there is no display or no OpenGL 3.
  [[nodiscard]] static Result<std::unique_ptr<Window>> open(const WindowOptions& options);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] bool should_close() const;
  [[nodiscard]] float scale() const;
  void on_drop(std::function<void(std::vector<std::filesystem::path>)> opened) {
    opened_ = std::move(opened);
  }
  void drop(std::vector<std::filesystem::path> paths) const {
    if (opened_) opened_(std::move(paths));
  }
  void resize(int width, int height);
  void set_scale(double scale) { fixed_scale_ = scale; }
  /// Moves the real pointer: code that asks the system for its position gets the same answer.
  void move_pointer(float x, float y);

  /// Waits for an event if `wait` is set, draws, and shows the result.
  void frame(gui::App& app, bool wait);
  /// The last frame; only while frames are kept.
  [[nodiscard]] Image screenshot() const;
  void keep_frames(bool keep) { keep_ = keep; }
  /// Frames at maximum speed, not at the display's rate.
  static void measure_speed(bool on);
  /// Waits until the GPU (or its software replacement) has finished: for measuring.
  void finish() const;
  /// May be called from any thread: ends a wait.
  static void wake();

 private:
  explicit Window(GLFWwindow* window) : window_(window) {}

  GLFWwindow* window_;
  double fixed_scale_ = 0.0;
  int settling_ = 0;  // frames until everything is at rest
  Image last_;
  bool keep_ = false;
  std::function<void(std::vector<std::filesystem::path>)> opened_;
};

}  // namespace driftscope
