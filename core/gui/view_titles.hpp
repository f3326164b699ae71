// The titles of the views, for options and messages of programs without a window. A view's title is the name
// of its file: core/gui/imgui/drift_view.cpp is "Drift". Clients: native/cli, the window.
#pragma once

#include <string>

namespace driftscope::gui {

/// "Drift, Graph or Layers" (generated: build/generated/view_titles.cpp).
[[nodiscard]] std::string view_choices();

}  // namespace driftscope::gui
