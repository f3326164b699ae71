// What a view is, and what it is given: one snapshot, one selection, one theme. Each view is one file,
// FOO_view.cpp with make_FOO_view(), which the build finds (cmake/imgui.cmake). Clients: app.
#pragma once

#include <imgui.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/gui/csv.hpp"
#include "core/gui/feed.hpp"
#include "core/gui/imgui/imgui_painter.hpp"
#include "core/gui/selection.hpp"
#include "core/gui/theme.hpp"

namespace driftscope::gui {

/// Of one frame.
struct Screen {
  const Feed& feed;
  const Snapshot* snapshot;       ///< null: nothing is open
  std::uint64_t snapshot_number;  ///< another one when the snapshot is
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
  /// The target whose column counts where one is shown: in range.
  [[nodiscard]] std::size_t target() const {
    const std::size_t count = snapshot->targets.size();
    return selected().target < count ? selected().target : count - 1;
  }
  [[nodiscard]] bool layer_selected() const { return selected().layer < snapshot->layers.size(); }
};

/// What goes to a file or the clipboard.
struct SavedPicture {
  std::string svg;
  Image pixels;  ///< empty: the screen is taken
};

class View {
 public:
  View() = default;
  virtual ~View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  [[nodiscard]] virtual std::string_view title() const = 0;
  /// Where its tab stands: by rising numbers. The lowest is shown while nothing is open.
  [[nodiscard]] virtual int place() const = 0;
  /// Without an open run as well?
  [[nodiscard]] virtual bool needs_snapshot() const { return true; }
  /// Into the current window, all of its room.
  virtual void draw(Screen& screen) = 0;
  /// What it shows as a table; empty: nothing.
  [[nodiscard]] virtual Table table(const Screen&) const { return {}; }
  [[nodiscard]] virtual SavedPicture picture(const Screen&) const { return {}; }
  /// "/" was pressed: to where it takes text.
  virtual void focus_filter() {}
};

/// All views, in the order of their tabs.
[[nodiscard]] std::vector<std::unique_ptr<View>> make_views();

}  // namespace driftscope::gui
