// The interface of a view and its context: one snapshot, one selection, one theme. Each view is one file,
// FOO_view.cpp with make_FOO_view(), which the build finds (cmake/imgui.cmake). Clients: app.
#pragma once

#include <imgui.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/draw/theme.hpp"
#include "core/gui/csv.hpp"
#include "core/gui/feed.hpp"
#include "core/gui/imgui/imgui_painter.hpp"
#include "core/gui/selection.hpp"

namespace driftscope::gui {

/// The context of one frame.
struct Screen {
  const Feed& feed;
  const Snapshot* snapshot;       ///< null: nothing is open
  std::uint64_t snapshot_number;  ///< changes with the snapshot
  SelectionHistory& selection;
  const Theme& theme;
  Host& host;
  ImFont* regular;
  ImFont* small;
  float scale;
  bool arrows;  ///< arrow keys go from layer to layer; not while Tab has put them on a control

  [[nodiscard]] ImGuiPainter painter(ImDrawList* list) const { return {list, regular, small, scale}; }
  [[nodiscard]] ImGuiPainter painter() const { return painter(ImGui::GetWindowDrawList()); }
  [[nodiscard]] const Selection& selected() const { return selection.current(); }
  /// The target shown where there is only one: always in range.
  [[nodiscard]] std::size_t target() const {
    const std::size_t count = snapshot->targets.size();
    return selected().target < count ? selected().target : count - 1;
  }
  [[nodiscard]] bool layer_selected() const { return selected().layer < snapshot->layers.size(); }
};

/// For a file or the clipboard.
struct SavedPicture {
  std::string svg;
  Image pixels;  ///< empty: the screen is captured
};

class View {
 public:
  View() = default;
  virtual ~View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  /// The name of its file: "Drift" of drift_view.cpp.
  [[nodiscard]] std::string_view title() const { return title_; }
  void set_title(std::string_view title) { title_ = title; }
  /// Order of its tab: ascending numbers. The lowest is shown while nothing is open.
  [[nodiscard]] virtual int place() const = 0;
  /// Whether it needs an open run.
  [[nodiscard]] virtual bool needs_snapshot() const { return true; }
  /// Draws into the whole current window.
  virtual void draw(Screen& screen) = 0;
  /// Its contents as a table; empty: none.
  [[nodiscard]] virtual Table table(const Screen&) const { return {}; }
  [[nodiscard]] virtual SavedPicture picture(const Screen&) const { return {}; }
  /// "/" was pressed: focuses its text field.
  virtual void focus_filter() {}

 private:
  std::string_view title_;
};

/// All views, in the order of their tabs.
[[nodiscard]] std::vector<std::unique_ptr<View>> make_views();

}  // namespace driftscope::gui
