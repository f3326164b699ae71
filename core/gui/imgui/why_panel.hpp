// Why a layer is wrong: the cause or how far hypotheses get, where the wrong elements are, whether it
// matters, and what can be made of it. Client: the details.
#pragma once

#include <span>

#include "core/gui/imgui/view.hpp"

namespace driftscope::gui {

/// The target of which the panel speaks: the selected one if the layer is wrong there, else the first one
/// where it is; no_place where it is right.
[[nodiscard]] std::size_t why_target(const Screen& screen, std::size_t layer);

/// What can be done about a wrong layer: the buttons, and the commands of the application.
struct WorkButton {
  LayerWork work;
  const char* name;
  const char* command;
  const char* help;
};
[[nodiscard]] std::span<const WorkButton> work_buttons();

/// Has the host do it; where it cannot, what to type is copied to the clipboard. True: the host does it.
bool start_work(Screen& screen, LayerWork work, std::size_t layer, std::size_t target);

/// Into the current window, at its whole width.
void draw_why(Screen& screen, std::size_t layer, std::size_t target);

}  // namespace driftscope::gui
