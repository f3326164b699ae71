#include "native/gui/window/script.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "core/base/format.hpp"
#include "core/draw/png.hpp"
#include "core/platform/platform.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

/// "Ctrl+Shift+C" → keys in the order of pressing them.
std::vector<ImGuiKey> keys_of(const std::string& text) {
  std::vector<ImGuiKey> keys;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, '+');) {
    if (part == "Ctrl")
      keys.push_back(ImGuiMod_Ctrl);
    else if (part == "Shift")
      keys.push_back(ImGuiMod_Shift);
    else if (part == "Alt")
      keys.push_back(ImGuiMod_Alt);
    else {
      static const std::pair<const char*, ImGuiKey> named[] = {
          {"/", ImGuiKey_Slash},          {"[", ImGuiKey_LeftBracket},     {"]", ImGuiKey_RightBracket},
          {"Down", ImGuiKey_DownArrow},   {"Up", ImGuiKey_UpArrow},        {"Left", ImGuiKey_LeftArrow},
          {"Right", ImGuiKey_RightArrow}, {"Enter", ImGuiKey_Enter},       {"Escape", ImGuiKey_Escape},
          {"Tab", ImGuiKey_Tab},          {"Space", ImGuiKey_Space},       {"Home", ImGuiKey_Home},
          {"End", ImGuiKey_End},          {"PageDown", ImGuiKey_PageDown}, {"PageUp", ImGuiKey_PageUp}};
      ImGuiKey key = ImGuiKey_None;
      for (const auto& [name, code] : named)
        if (part == name) key = code;
      if (part.size() == 1 && part[0] >= 'A' && part[0] <= 'Z')
        key = static_cast<ImGuiKey>(ImGuiKey_A + (part[0] - 'A'));
      if (part.size() == 1 && part[0] >= '0' && part[0] <= '9')
        key = static_cast<ImGuiKey>(ImGuiKey_0 + (part[0] - '0'));
      if (key == ImGuiKey_None) return {};
      keys.push_back(key);
    }
  }
  return keys;
}

class ScriptRun {
 public:
  ScriptRun(Window& window, gui::App& app, DesktopHost& host, std::filesystem::path folder)
      : window_(window), app_(app), host_(host), folder_(std::move(folder)) {}

  Status carry_out(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    std::string rest;
    std::getline(words >> std::ws, rest);
    words = std::istringstream(rest);
    if (verb.empty() || verb[0] == '#') return {};
    if (verb == "size") return size(words);
    if (verb == "scale") return scale(words);
    if (verb == "open" || verb == "drop") return window_.drop({path(rest)}), frames(3);
    if (verb == "view") return app_.open_view(rest) ? frames(3) : bad_input("there is no such view");
    if (verb == "select") return app_.open_layer(rest), frames(3);
    if (verb == "idle") return idle();
    if (verb == "key") return key(rest);
    if (verb == "type") return ImGui::GetIO().AddInputCharactersUTF8(rest.c_str()), frames(3);
    if (verb == "mouse" || verb == "click") return mouse(words, verb == "click");
    if (verb == "drag") return drag(words);
    if (verb == "wheel") return wheel(words);
    if (verb == "frames") return frames(std::max(1, std::atoi(rest.c_str())));
    if (verb == "shot") return shot(rest);
    if (verb == "expect") return expect(words);
    if (verb == "speed") return speed(std::max(1, std::atoi(rest.c_str())));
    if (verb == "memory") return fmt::print("memory {}\n", format_bytes(sample_memory().bytes)), Status();
    if (verb == "demo") return host_.run_demo(), frames(3);
    if (verb == "stop") return host_.stop(), frames(3);
    return bad_input("unknown verb");
  }

 private:
  std::filesystem::path path(const std::string& text) const {
    return std::filesystem::path(text).is_absolute() ? std::filesystem::path(text) : folder_ / text;
  }

  Status frames(int count) {
    window_.frame(app_, false);
    while (host_.in_the_background()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (int i = 0; i < count; ++i) window_.frame(app_, false);
    return {};
  }

  Status size(std::istringstream& words) {
    int width = 0;
    int height = 0;
    if (!(words >> width >> height)) return bad_input("expected WIDTH HEIGHT");
    window_.resize(width, height);
    return frames(4);
  }

  Status scale(std::istringstream& words) {
    double scale = 0.0;
    if (!(words >> scale)) return bad_input("expected a number");
    window_.set_scale(scale);
    return frames(4);
  }

  Status idle() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (host_.feed()->busy) {
      if (std::chrono::steady_clock::now() > end) return bad_input("still busy after five minutes");
      window_.frame(app_, false);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return frames(4);
  }

  Status key(const std::string& text) {
    const auto keys = keys_of(text);
    if (keys.empty()) return bad_input("unknown key");
    ImGuiIO& io = ImGui::GetIO();
    for (const ImGuiKey one : keys) io.AddKeyEvent(one, true);
    window_.frame(app_, false);
    for (const ImGuiKey one : keys) io.AddKeyEvent(one, false);
    return frames(3);
  }

  Status mouse(std::istringstream& words, bool click) {
    float x = 0.0f;
    float y = 0.0f;
    if (!(words >> x >> y)) return bad_input("expected X Y");
    ImGuiIO& io = ImGui::GetIO();
    window_.move_pointer(x, y);
    (void)frames(2);
    if (!click) return frames(30);  // tooltips have a delay
    io.AddMouseButtonEvent(0, true);
    (void)frames(2);
    io.AddMouseButtonEvent(0, false);
    return frames(3);
  }

  Status drag(std::istringstream& words) {
    float x = 0.0f, y = 0.0f, to_x = 0.0f, to_y = 0.0f;
    if (!(words >> x >> y >> to_x >> to_y)) return bad_input("expected X Y X2 Y2");
    ImGuiIO& io = ImGui::GetIO();
    window_.move_pointer(x, y);
    (void)frames(1);
    io.AddMouseButtonEvent(0, true);
    (void)frames(2);
    for (int i = 1; i <= 8; ++i) {
      const float t = static_cast<float>(i) / 8.0f;
      window_.move_pointer(x + (to_x - x) * t, y + (to_y - y) * t);
      (void)frames(1);
    }
    io.AddMouseButtonEvent(0, false);
    return frames(3);
  }

  Status wheel(std::istringstream& words) {
    float steps = 0.0f;
    if (!(words >> steps)) return bad_input("expected a number");
    for (int i = 0; i < std::abs(static_cast<int>(steps)); ++i) {
      ImGui::GetIO().AddMouseWheelEvent(0.0f, steps > 0.0f ? 1.0f : -1.0f);
      (void)frames(1);
    }
    return frames(3);
  }

  Status shot(const std::string& name) {
    window_.keep_frames(true);
    (void)frames(2);
    window_.keep_frames(false);
    const auto file = png_file(window_.screenshot());
    if (file.empty()) return io_error("there is nothing to show");
    return write_file(path(name), file);
  }

  Status expect(std::istringstream& words) {
    std::string what;
    std::string text;
    words >> what;
    std::getline(words >> std::ws, text);
    const auto feed = host_.feed();
    const auto expect = [&](bool ok, const std::string& got) {
      return ok ? Status() : bad_input(fmt::format("expected {} {}, got {}", what, text, got));
    };
    if (what == "view") return expect(app_.view_title() == text, std::string(app_.view_title()));
    if (what == "layer") return expect(app_.selected_layer() == text, app_.selected_layer());
    if (what == "error") return expect(feed->error.find(text) != std::string::npos, feed->error);
    if (what == "noerror") return expect(feed->error.empty(), feed->error);
    if (what == "targets" || what == "layers") {
      const std::size_t got = !feed->snapshot     ? 0
                              : what == "targets" ? feed->snapshot->targets.size()
                                                  : feed->snapshot->layers.size();
      return expect(std::to_string(got) == text, std::to_string(got));
    }
    return bad_input("unknown expectation");
  }

  Status speed(int count) {
    Window::measure_speed(true);
    (void)frames(5);
    window_.finish();
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      window_.frame(app_, false);
      window_.finish();
      times.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    Window::measure_speed(false);
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    fmt::print("speed {} frames: median {:.2f} ms ({:.0f} per second), slowest {:.2f} ms\n", count, median,
               1000.0 / median, times.back());
    return {};
  }

  Window& window_;
  gui::App& app_;
  DesktopHost& host_;
  std::filesystem::path folder_;
};

}  // namespace

Status run_script(const std::filesystem::path& file, Window& window, gui::App& app, DesktopHost& host) {
  DRIFTSCOPE_TRY(const auto bytes, read_file(file));
  std::istringstream lines(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  ScriptRun run(window, app, host, std::filesystem::absolute(file).parent_path());
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const Status done = run.carry_out(line);
    if (!done.ok()) return in_context(done.error(), fmt::format("{}:{}: {}", file.string(), number, line));
  }
  return {};
}

}  // namespace driftscope
