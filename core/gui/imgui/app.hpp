// The application: bars, tabs, the details of the selection, the command palette, keys. It owns the
// views and the selection; the loop and the window are the host's: prepare, ImGui::NewFrame, frame,
// ImGui::Render, after_render. Clients: native/gui, web/gui.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/gui/imgui/view.hpp"

namespace driftscope::gui {

struct AppOptions {
  bool dark = true;
  float scale = 1.0f;  ///< of the display
  bool details = true;
  bool touch = false;  ///< touch screen without keys: larger controls, and no key hints
};

class App {
 public:
  /// `font` is a TrueType file, which must outlive the app.
  App(Host& host, std::span<const std::byte> font, AppOptions options);
  ~App();

  /// Before ImGui::NewFrame. True: the font atlas was rebuilt, so its texture must be as well.
  [[nodiscard]] bool prepare();
  void frame();
  /// `read` returns the pixels of a box of the screen: for saving pictures as displayed.
  void after_render(const std::function<Image(Box)>& read);

  void set_display_scale(float scale) { display_scale_ = scale; }
  [[nodiscard]] Colour ground() const { return theme_.ground; }
  /// By its title, ignoring case; false when there is none.
  bool open_view(std::string_view title);
  /// By the layer's or its output's name, as soon as it exists.
  void open_layer(std::string name) { wanted_layer_ = std::move(name); }
  [[nodiscard]] std::string_view view_title() const { return views_[view_]->title(); }
  /// Its name; empty when none is selected.
  [[nodiscard]] std::string selected_layer() const {
    const std::size_t layer = selection_.current().layer;
    return shown_ && layer < shown_->layers.size() ? shown_->layers[layer].node : std::string();
  }
  /// Something is animated: the next frame must not wait for an event.
  [[nodiscard]] bool restless() const;

 private:
  /// Views opened by a key, 1 to 9; the others have their tab and their command.
  static constexpr std::size_t view_keys = 9;
  static constexpr double status_seconds = 5.0;  ///< how long the status line shows a message

  struct Command {
    std::string name;
    const char* keys;
    std::function<void()> act;
    bool possible = true;
  };

  void adopt(Screen& screen);
  [[nodiscard]] std::vector<Command> commands(Screen& screen);
  void handle_keys(Screen& screen);
  void draw_top_bar(Screen& screen);
  void draw_tabs(Screen& screen);
  void draw_body(Screen& screen);
  void draw_details(Screen& screen);
  void draw_details_line(Screen& screen);
  /// The text of the status line; may be empty.
  [[nodiscard]] std::pair<std::string, Colour> status_text() const;
  void draw_status(Screen& screen);
  void draw_palette(Screen& screen);
  void draw_help(Screen& screen);
  void keep_arrows();
  void step_target(Screen& screen, int by);
  void next_fault(Screen& screen);
  void copy_table(Screen& screen, bool csv);
  void save_table(Screen& screen);
  void save_svg(Screen& screen);
  void save_png(Screen& screen);
  void save_image(const Image& image);
  [[nodiscard]] std::string file_name(const char* extension) const;
  void say(std::string text);
  void apply_style();

  Host& host_;
  std::span<const std::byte> font_;
  std::vector<std::unique_ptr<View>> views_;
  std::size_t view_ = 0;
  SelectionHistory selection_;
  Theme theme_;
  float display_scale_ = 1.0f;
  float zoom_ = 1.0f;  // the user's, multiplied with the display's
  float built_scale_ = 0.0f;
  ImFont* regular_ = nullptr;
  ImFont* small_ = nullptr;
  std::shared_ptr<const Feed> feed_;
  std::shared_ptr<const Snapshot> shown_;
  std::shared_ptr<const StudyView> study_;  // what was open in the last frame, like the next three
  std::shared_ptr<const std::vector<AttackResults>> attacks_;
  std::shared_ptr<const CurveSet> curves_;
  std::shared_ptr<const documents::Generate> generation_;
  std::uint64_t snapshot_number_ = 1;
  bool details_ = true;
  bool touch_ = false;
  bool restyle_ = true;
  bool open_palette_ = false;
  bool open_help_ = false;
  bool on_control_ = false;  // keyboard navigation of controls is active
  char palette_text_[128] = {};
  int palette_place_ = 0;
  std::string wanted_layer_;
  std::string said_;
  double said_at_ = -1e9;
  Box view_box_;
  bool grab_ = false;  // capture the view's pixels after this frame
};

}  // namespace driftscope::gui
