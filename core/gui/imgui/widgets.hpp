// The few controls that ImGui lacks, or that must look alike everywhere. Clients: app, views.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "core/gui/imgui/view.hpp"

namespace driftscope::gui {

/// Adjacent buttons, one of which is chosen; true when the choice changed.
bool segments(const Screen& screen, const char* id, int& chosen, std::initializer_list<const char*> names);

/// Widths of controls, for `flow`.
[[nodiscard]] float button_width(const char* label);
[[nodiscard]] float checkbox_width(const char* label);
[[nodiscard]] float segments_width(std::initializer_list<const char*> names);
/// Puts the next control, `width` wide, beside the last one, or below if there is no room.
void flow(float width, float spacing = -1.0f);

/// A button in the accent colour.
bool accent_button(const Screen& screen, const char* label, ImVec2 size = {0.0f, 0.0f});
/// A button without a frame, for rows of actions.
bool quiet_button(const Screen& screen, const char* label);

void small_text(const Screen& screen, std::string_view text, Colour colour);
/// Right-aligned in the cell or window.
void right_text(std::string_view text, Colour colour);
/// Symbol and word of a verdict, on one line.
void verdict_label(const Screen& screen, Verdict verdict, bool with_word = true);
/// Marker and name of a target, in its colour.
void target_label(const Screen& screen, std::size_t target);

/// The row of a table's headers; those of columns `right` are above right-aligned figures.
void headers_row(std::initializer_list<int> right);

/// A tooltip of the last item, wrapped.
void hint(const char* text);
/// A tooltip at the pointer, wrapped.
void tooltip(const char* text);

/// Centred in the window: what is missing, and what to do about it.
void empty_state(const Screen& screen, const char* title, const char* advice);

/// A list of parts at the left, one of which is chosen, with a line before the place `line`; in a narrow
/// window a drop-down list above. What follows is drawn beside or below it.
void parts_list(const Screen& screen, std::span<const std::string> names, std::size_t line,
                std::size_t& chosen);

/// A child window for painting only: its box, and whether the mouse is in it. End with
/// end_canvas.
struct Canvas {
  Box box;
  bool hovered = false;
  bool clicked = false;
};
[[nodiscard]] Canvas canvas(const char* id, ImVec2 size);

/// A horizontal or vertical splitter; moves `share` (of `length`) within [low, high].
void splitter(const Screen& screen, const char* id, bool vertical, float length, float& share, float low,
              float high);

}  // namespace driftscope::gui
