// The titles of the views, without the views: for options and messages of programs without a window. A view's
// title is the name of its file: core/gui/imgui/drift_view.cpp is "Drift". Clients: native/cli, the registry of
// views, the window.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace driftscope::gui {

/// In the order of the alphabet (generated: build/generated/view_titles.cpp).
[[nodiscard]] std::span<const std::string_view> view_titles();

/// "Drift, Graph or Layers"
[[nodiscard]] std::string view_choices();

}  // namespace driftscope::gui
