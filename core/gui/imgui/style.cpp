#include "core/gui/imgui/style.hpp"

#include <array>
#include <cmath>

#include "core/gui/imgui/font.hpp"

namespace driftscope::gui {

Fonts load_fonts(std::span<const std::byte> font, float scale) {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  atlas->Clear();
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  config.OversampleH = scale > 1.5f ? 1 : 2;
  config.OversampleV = 1;
  const auto add = [&](float size) {
    // ImGui does not write to fonts that it does not own, although its interface is not const.
    void* data = const_cast<std::byte*>(font.data());
    return atlas->AddFontFromMemoryTTF(data, static_cast<int>(font.size()), std::round(size * scale), &config,
                                       font_ranges().data());
  };
  Fonts fonts{add(15.0f), add(12.5f)};
  if (fonts.regular == nullptr || fonts.small == nullptr) {
    atlas->Clear();
    fonts.regular = fonts.small = atlas->AddFontDefault();
  }
  atlas->Build();
  return fonts;
}

void apply_theme(const Theme& theme, float scale, bool touch) {
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  style.WindowPadding = {10.0f, 8.0f};
  style.FramePadding = {8.0f, 4.0f};
  style.CellPadding = {6.0f, 2.5f};
  style.ItemSpacing = {8.0f, 6.0f};
  style.ItemInnerSpacing = {6.0f, 4.0f};
  style.ScrollbarSize = 12.0f;
  style.FrameRounding = 4.0f;
  style.PopupRounding = 6.0f;
  style.GrabRounding = 4.0f;
  style.ScrollbarRounding = 6.0f;
  style.WindowBorderSize = 0.0f;
  style.ChildBorderSize = 0.0f;
  style.FrameBorderSize = 1.0f;
  style.PopupBorderSize = 1.0f;
  style.SeparatorTextBorderSize = 1.0f;
  style.SeparatorTextPadding = {0.0f, 6.0f};
  style.DisabledAlpha = 0.55f;
  if (touch) {
    style.FramePadding = {10.0f, 9.0f};
    style.CellPadding.y = 8.0f;
    style.ItemSpacing.y = 10.0f;
  }
  style.ScaleAllSizes(scale);
  style.FrameBorderSize = 1.0f;
  const auto set = [&](ImGuiCol colour, Colour value) { style.Colors[colour] = im4(value); };
  set(ImGuiCol_Text, theme.ink);
  set(ImGuiCol_TextDisabled, theme.dim);
  set(ImGuiCol_WindowBg, theme.ground);
  set(ImGuiCol_ChildBg, with_alpha(theme.panel, 0.0f));
  set(ImGuiCol_PopupBg, theme.raised);
  set(ImGuiCol_Border, theme.line);
  set(ImGuiCol_FrameBg, theme.raised);
  set(ImGuiCol_FrameBgHovered, mix(theme.raised, theme.accent, 0.12f));
  set(ImGuiCol_FrameBgActive, mix(theme.raised, theme.accent, 0.22f));
  set(ImGuiCol_ScrollbarBg, with_alpha(theme.ground, 0.0f));
  set(ImGuiCol_ScrollbarGrab, theme.line);
  set(ImGuiCol_ScrollbarGrabHovered, mix(theme.line, theme.dim, 0.4f));
  set(ImGuiCol_ScrollbarGrabActive, theme.dim);
  set(ImGuiCol_CheckMark, theme.accent);
  set(ImGuiCol_SliderGrab, theme.accent);
  set(ImGuiCol_SliderGrabActive, theme.accent);
  set(ImGuiCol_Button, theme.raised);
  set(ImGuiCol_ButtonHovered, mix(theme.raised, theme.accent, 0.18f));
  set(ImGuiCol_ButtonActive, mix(theme.raised, theme.accent, 0.35f));
  set(ImGuiCol_Header, theme.accent_soft);
  set(ImGuiCol_HeaderHovered, mix(theme.panel, theme.accent, 0.14f));
  set(ImGuiCol_HeaderActive, mix(theme.panel, theme.accent, 0.28f));
  set(ImGuiCol_Separator, theme.line);
  set(ImGuiCol_SeparatorHovered, theme.accent);
  set(ImGuiCol_SeparatorActive, theme.accent);
  set(ImGuiCol_ResizeGrip, with_alpha(theme.line, 0.0f));
  set(ImGuiCol_TableHeaderBg, theme.raised);
  set(ImGuiCol_TableBorderStrong, theme.line);
  set(ImGuiCol_TableBorderLight, theme.grid);
  set(ImGuiCol_TableRowBg, with_alpha(theme.panel, 0.0f));
  set(ImGuiCol_TableRowBgAlt, with_alpha(theme.panel, 0.0f));
  set(ImGuiCol_TextSelectedBg, mix(theme.panel, theme.accent, 0.4f));
  set(ImGuiCol_NavHighlight, theme.accent);
  set(ImGuiCol_DragDropTarget, theme.accent);
  set(ImGuiCol_ModalWindowDimBg, with_alpha(theme.ground, 0.6f));
}

void draw_logo(const Screen& screen) {
  // Two diverging curves: what Driftscope looks for.
  const float size = ImGui::GetFrameHeight() * 0.82f;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float y = at.y + ImGui::GetFrameHeight() / 2.0f;
  auto painter = screen.painter();
  const Box box{at.x, y - size / 2.0f, at.x + size, y + size / 2.0f};
  painter.fill(box, screen.theme.accent, 4.0f);
  std::array<Point, 12> straight;
  std::array<Point, 12> drifting;
  for (std::size_t i = 0; i < straight.size(); ++i) {
    const float t = static_cast<float>(i) / 11.0f;
    const float x = box.left + size * (0.16f + 0.68f * t);
    straight[i] = {x, y + size * 0.18f};
    drifting[i] = {x, y + size * 0.18f - size * 0.42f * t * t * t};
  }
  painter.polyline(straight, with_alpha(screen.theme.on_accent, 0.65f), 1.5f);
  painter.polyline(drifting, screen.theme.on_accent, 1.8f);
  ImGui::Dummy({size, ImGui::GetFrameHeight()});
}

}  // namespace driftscope::gui
