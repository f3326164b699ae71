// The bars around a view: the title and the commands above, the tabs, the status line below.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/gui/imgui/app.hpp"
#include "core/gui/imgui/style.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {

void App::draw_top_bar(Screen& screen) {
  const float em = ImGui::GetFontSize();
  ImGui::PushStyleColor(ImGuiCol_ChildBg, im(theme_.panel));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {em * 0.75f, em * 0.42f});
  ImGui::BeginChild("top", {0.0f, ImGui::GetFrameHeight() + em * 0.84f},
                    ImGuiChildFlags_AlwaysUseWindowPadding,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  draw_logo(screen);
  ImGui::SameLine(0.0f, em * 0.5f);
  ImGui::AlignTextToFramePadding();
  if (shown_) {
    ImGui::TextUnformatted(elide(shown_->title, 32).c_str());
    ImGui::SameLine(0.0f, em);
    Verdict worst = Verdict::missing;
    for (const TargetColumn& target : shown_->targets) worst = worse_of(worst, target.verdict);
    const std::string& headline = shown_->headline;
    const float room = ImGui::GetContentRegionAvail().x - em * 12.5f;
    const float need = ImGui::CalcTextSize(headline.c_str()).x + em * 1.4f;
    if (room > em * 6.0f) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      ImGui::SetCursorScreenPos({at.x, at.y + ImGui::GetStyle().FramePadding.y});
      verdict_label(screen, worst, false);
      ImGui::SetCursorScreenPos({at.x + em * 1.15f, at.y});
      ImGui::AlignTextToFramePadding();
      const auto letters =
          static_cast<std::size_t>(std::max(4.0f, room / need * static_cast<float>(display_width(headline))));
      ImGui::TextUnformatted((need > room ? elide(headline, letters) : headline).c_str());
      hint(headline.c_str());
    }
  } else {
    ImGui::TextUnformatted("Driftscope");
  }
  const char* commands = touch_ ? "Commands" : "Commands  Ctrl+K";
  const float buttons = button_width(commands) + button_width("Light") + em * 0.5f;
  ImGui::SameLine(std::max(ImGui::GetCursorPosX(), ImGui::GetWindowWidth() - buttons - em * 0.6f));
  if (quiet_button(screen, commands)) open_palette_ = true;
  ImGui::SameLine(0.0f, em * 0.2f);
  if (quiet_button(screen, theme_.dark ? "Light" : "Dark")) {
    theme_ = theme_.dark ? light_theme() : dark_theme();
    restyle_ = true;
  }
  ImGui::EndChild();
  ImGui::PopStyleColor();
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ImGui::GetStyle().ItemSpacing.y);
}

void App::draw_tabs(Screen& screen) {
  const float em = ImGui::GetFontSize();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImDrawList* list = ImGui::GetWindowDrawList();
  // All tabs stay visible: in narrow windows with narrow gaps and small letters, and then in several rows.
  auto painter = screen.painter();
  const auto words_in = [&](bool small) {
    float sum = 0.0f;
    for (const auto& view : views_) sum += painter.text_width(view->title(), small);
    return sum;
  };
  const bool small = words_in(false) + em * (0.3f * static_cast<float>(views_.size()) + 1.0f) > width;
  const float words = words_in(small);
  const auto count = static_cast<float>(views_.size());
  const bool wrapped = words + em * (0.3f * count + 1.0f) > width;
  const float height = em * (!touch_ ? 2.0f : wrapped ? 2.2f : 2.6f);
  const float gap = wrapped ? em * 0.9f : std::clamp((width - words - em) / count, em * 0.3f, em * 1.3f);
  const float left = at.x + em * 0.75f - gap * 0.5f + (gap < em && !wrapped ? gap * 0.2f : 0.0f);
  std::vector<ImVec2> places;
  ImVec2 next = {left, at.y};
  for (const auto& view : views_) {
    const float tab = painter.text_width(view->title(), small) + gap;
    if (next.x > left && next.x + tab > at.x + width) next = {left, next.y + height};
    places.push_back(next);
    next.x += tab;
  }
  const float bottom = next.y + height;
  list->AddRectFilled(at, {at.x + width, bottom}, im(theme_.panel));
  list->AddLine({at.x, bottom - 0.5f}, {at.x + width, bottom - 0.5f}, im(theme_.line));
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const std::string_view title = views_[i]->title();
    const float tab = painter.text_width(title, small) + gap;
    const auto [x, y] = places[i];
    const bool possible = shown_ || !views_[i]->needs_snapshot();
    ImGui::SetCursorScreenPos({x, y});
    ImGui::PushID(static_cast<int>(i));
    ImGui::BeginDisabled(!possible);
    if (ImGui::InvisibleButton("tab", {tab, height})) view_ = i;
    ImGui::EndDisabled();
    const bool hovered = ImGui::IsItemHovered();
    if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
      painter.frame({x, y + 2.0f, x + tab, y + height - 2.0f}, theme_.accent, 1.0f, 3.0f);
    if (i < view_keys) hint(fmt::format("Key: {}", i + 1).c_str());
    ImGui::PopID();
    const bool active = i == view_;
    painter.text({x + tab / 2.0f, y + height * 0.47f}, title,
                 !possible           ? with_alpha(theme_.dim, 0.45f)
                 : active || hovered ? theme_.ink
                                     : theme_.dim,
                 Anchor::middle, small);
    if (active)
      list->AddRectFilled({x + gap * 0.2f, y + height - 2.5f * built_scale_},
                          {x + tab - gap * 0.2f, y + height}, im(theme_.accent));
  }
  ImGui::SetCursorScreenPos({at.x, bottom});
  ImGui::Dummy({0.0f, 0.0f});
}

std::pair<std::string, Colour> App::status_text() const {
  if (ImGui::GetTime() - said_at_ < status_seconds) return {said_, theme_.ink};
  for (const TargetProgress& one : feed_->progress)
    if (feed_->busy && one.state == TargetProgress::State::running) {
      const std::string text = one.target + ": " + one.step;
      if (one.total == 0) return {text, theme_.dim};
      const double percent = 100.0 * static_cast<double>(one.done) / static_cast<double>(one.total);
      return {fmt::format("{} {:.0f} %", text, percent), theme_.dim};
    }
  if (!feed_->error.empty()) return {feed_->error, theme_.verdict(Verdict::fault)};
  if (feed_->busy && !feed_->doing.empty()) return {feed_->doing, theme_.dim};
  if (touch_) return {};
  return {"Up, Down: layer    [ ]: target    F: next fault    Ctrl+Z: back    ?: all keys", theme_.dim};
}

void App::draw_status(Screen& screen) {
  const auto [text, colour] = status_text();
  if (text.empty()) return;
  const float em = ImGui::GetFontSize();
  const ImVec2 low = ImGui::GetWindowPos();
  const ImVec2 size = ImGui::GetWindowSize();
  const float height = small_->FontSize * 1.7f;
  const float y = low.y + size.y - height;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({low.x, y}, {low.x + size.x, low.y + size.y}, im(theme_.ground));
  auto painter = screen.painter();
  const auto letters =
      static_cast<std::size_t>(std::max(10.0f, (size.x - 2.0f * em) / (small_->FontSize * 0.5f)));
  const std::string shown = elide(text, letters);
  painter.text({low.x + em * 0.75f, y + height / 2.0f}, shown, colour, Anchor::start, true);
  if (shown != text && ImGui::IsMouseHoveringRect({low.x, y}, {low.x + size.x, low.y + size.y}))
    tooltip(text.c_str());
}

}  // namespace driftscope::gui
