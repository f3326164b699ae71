#include "core/gui/imgui/widgets.hpp"

#include <algorithm>
#include <cmath>

#include "core/draw/verdict_mark.hpp"

namespace driftscope::gui {

bool segments(const Screen& screen, const char* id, int& chosen, std::initializer_list<const char*> names) {
  bool changed = false;
  ImGui::PushID(id);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {1.0f, ImGui::GetStyle().ItemSpacing.y});
  int place = 0;
  for (const char* name : names) {
    if (place > 0) ImGui::SameLine();
    const bool active = place == chosen;
    ImGui::PushStyleColor(ImGuiCol_Button, active ? im(screen.theme.accent_soft) : im(screen.theme.raised));
    ImGui::PushStyleColor(ImGuiCol_Text, active ? im(screen.theme.ink) : im(screen.theme.dim));
    if (ImGui::Button(name) && !active) {
      chosen = place;
      changed = true;
    }
    if (active) {
      const ImVec2 low = ImGui::GetItemRectMin();
      const ImVec2 high = ImGui::GetItemRectMax();
      ImGui::GetWindowDrawList()->AddRectFilled({low.x + 2.0f, high.y - 2.0f * screen.scale},
                                                {high.x - 2.0f, high.y}, im(screen.theme.accent));
    }
    ImGui::PopStyleColor(2);
    ++place;
  }
  ImGui::PopStyleVar();
  ImGui::PopID();
  return changed;
}

float button_width(const char* label) {
  return ImGui::CalcTextSize(label).x + 2.0f * ImGui::GetStyle().FramePadding.x;
}

float checkbox_width(const char* label) {
  return ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x + ImGui::CalcTextSize(label).x;
}

float segments_width(std::initializer_list<const char*> names) {
  float width = 0.0f;
  for (const char* name : names) width += button_width(name) + 1.0f;
  return width - 1.0f;
}

void flow(float width, float spacing) {
  ImGui::SameLine(0.0f, spacing);
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

bool accent_button(const Screen& screen, const char* label, ImVec2 size) {
  ImGui::PushStyleColor(ImGuiCol_Button, im(screen.theme.accent));
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, im(mix(screen.theme.accent, screen.theme.ink, 0.15f)));
  ImGui::PushStyleColor(ImGuiCol_ButtonActive, im(mix(screen.theme.accent, screen.theme.ink, 0.3f)));
  ImGui::PushStyleColor(ImGuiCol_Text, im(screen.theme.on_accent));
  const bool pressed = ImGui::Button(label, size);
  ImGui::PopStyleColor(4);
  return pressed;
}

bool quiet_button(const Screen& screen, const char* label) {
  ImGui::PushStyleColor(ImGuiCol_Button, im(with_alpha(screen.theme.raised, 0.0f)));
  const bool pressed = ImGui::Button(label);
  ImGui::PopStyleColor();
  return pressed;
}

void small_text(const Screen& screen, std::string_view text, Colour colour) {
  ImGui::PushFont(screen.small);
  ImGui::PushStyleColor(ImGuiCol_Text, im(colour));
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

void right_text(std::string_view text, Colour colour) {
  const float width = ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
  const float room = ImGui::GetContentRegionAvail().x;
  if (room > width) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
  ImGui::PushStyleColor(ImGuiCol_Text, im(colour));
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopStyleColor();
}

void headers_row(std::initializer_list<int> right) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int column = 0; column < ImGui::TableGetColumnCount(); ++column) {
    if (!ImGui::TableSetColumnIndex(column)) continue;
    const char* name = ImGui::TableGetColumnName(column);
    if (std::find(right.begin(), right.end(), column) != right.end()) {
      const float spare = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(name).x;
      ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, spare));
    }
    ImGui::PushID(column);
    ImGui::TableHeader(name);
    ImGui::PopID();
  }
}

void verdict_label(const Screen& screen, Verdict verdict, bool with_word) {
  const float size = ImGui::GetFontSize() * 0.72f;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  auto painter = screen.painter();
  paint_verdict(painter, {at.x + size / 2.0f, at.y + ImGui::GetFontSize() / 2.0f}, size, verdict,
                screen.theme);
  ImGui::Dummy({size, ImGui::GetFontSize()});
  if (!with_word) return;
  ImGui::SameLine(0.0f, 6.0f * screen.scale);
  const std::string_view name = verdict_name(verdict);
  ImGui::PushStyleColor(ImGuiCol_Text, im(screen.theme.verdict(verdict)));
  ImGui::TextUnformatted(name.data(), name.data() + name.size());
  ImGui::PopStyleColor();
}

void target_label(const Screen& screen, std::size_t target) {
  const float size = ImGui::GetFontSize() * 0.55f;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  auto painter = screen.painter();
  paint_marker(painter, {at.x + size / 2.0f, at.y + ImGui::GetFontSize() / 2.0f}, size, target,
               screen.theme.series(target));
  ImGui::Dummy({size, ImGui::GetFontSize()});
  ImGui::SameLine(0.0f, 6.0f * screen.scale);
  ImGui::TextUnformatted(screen.snapshot->targets[target].name.c_str());
}

void hint(const char* text) {
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort | ImGuiHoveredFlags_NoSharedDelay)) tooltip(text);
}

void tooltip(const char* text) {
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * 26.0f);
  ImGui::TextUnformatted(text);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void empty_state(const Screen& screen, const char* title, const char* advice) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float wide = std::min(room.x, ImGui::GetFontSize() * 30.0f);
  const ImVec2 begin = ImGui::GetCursorPos();
  ImGui::SetCursorPos({begin.x + (room.x - wide) / 2.0f, begin.y + std::max(0.0f, room.y * 0.36f)});
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + wide);
  ImGui::TextUnformatted(title);
  ImGui::PushStyleColor(ImGuiCol_Text, im(screen.theme.dim));
  ImGui::TextUnformatted(advice);
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  ImGui::EndGroup();
}

void parts_list(const Screen& screen, std::span<const std::string> names, std::size_t line,
                std::size_t& chosen) {
  const float em = ImGui::GetFontSize();
  const float whole = ImGui::GetContentRegionAvail().x;
  if (whole < 34.0f * em) {
    ImGui::SetNextItemWidth(-1.0f);
    if (!ImGui::BeginCombo("##parts", chosen < names.size() ? names[chosen].c_str() : "")) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      if (ImGui::Selectable(names[i].c_str(), i == chosen)) chosen = i;
      ImGui::PopID();
    }
    return ImGui::EndCombo();
  }
  if (ImGui::BeginChild("parts", {std::min(whole * 0.3f, 19.0f * em), 0.0f})) {
    const float room = ImGui::GetContentRegionAvail().x;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i == line && i > 0) ImGui::Separator();
      ImGui::PushID(static_cast<int>(i));
      // The whole name is above what it chooses.
      const ImVec2 at = ImGui::GetCursorScreenPos();
      if (ImGui::Selectable("##part", i == chosen, 0, {room, 0.0f})) chosen = i;
      if (ImGui::CalcTextSize(names[i].c_str()).x > room) hint(names[i].c_str());
      auto painter = screen.painter();
      painter.clip({at.x, at.y, at.x + room, at.y + ImGui::GetTextLineHeightWithSpacing()});
      painter.text({at.x, at.y + ImGui::GetTextLineHeight() / 2.0f}, names[i], screen.theme.ink,
                   Anchor::start);
      painter.unclip();
      ImGui::PopID();
    }
  }
  ImGui::EndChild();
  ImGui::SameLine(0.0f, em);
}

Canvas canvas(const char* id, ImVec2 size) {
  Canvas made;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  size.x = std::max(size.x, 1.0f);
  size.y = std::max(size.y, 1.0f);
  made.clicked = ImGui::InvisibleButton(id, size);
  made.box = {at.x, at.y, at.x + size.x, at.y + size.y};
  made.hovered = ImGui::IsItemHovered();
  return made;
}

void splitter(const Screen& screen, const char* id, bool vertical, float length, float& share, float low,
              float high) {
  const float thick = std::max(5.0f, 6.0f * screen.scale);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = vertical ? ImVec2{thick, room.y} : ImVec2{room.x, thick};
  ImGui::InvisibleButton(id, {std::max(1.0f, size.x), std::max(1.0f, size.y)});
  const bool active = ImGui::IsItemActive();
  if (active && length > 0.0f) {
    const float moved = vertical ? ImGui::GetIO().MouseDelta.x : ImGui::GetIO().MouseDelta.y;
    share = std::clamp(share + moved / length, low, high);
  }
  if (active || ImGui::IsItemHovered()) {
    ImGui::SetMouseCursor(vertical ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    const ImVec2 middle{at.x + size.x / 2.0f, at.y + size.y / 2.0f};
    const ImVec2 half = vertical ? ImVec2{1.0f, size.y / 2.0f} : ImVec2{size.x / 2.0f, 1.0f};
    ImGui::GetWindowDrawList()->AddRectFilled({middle.x - half.x, middle.y - half.y},
                                              {middle.x + half.x, middle.y + half.y},
                                              im(screen.theme.accent));
  }
}

}  // namespace driftscope::gui
