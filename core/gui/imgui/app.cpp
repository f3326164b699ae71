#include "core/gui/imgui/app.hpp"

#include <imgui_internal.h>

#include <algorithm>

#include "core/gui/imgui/style.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {
namespace {

std::string lower_case(std::string_view text) {
  std::string made(text);
  for (char& c : made)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return made;
}

}  // namespace

App::App(Host& host, std::span<const std::byte> font, AppOptions options)
    : host_(host),
      font_(font),
      views_(make_views()),
      theme_(options.dark ? dark_theme() : light_theme()),
      display_scale_(options.scale),
      details_(options.details),
      touch_(options.touch) {
  ImGui::GetIO().IniFilename = nullptr;
}

App::~App() = default;

bool App::prepare() {
  ImGui::GetIO().ConfigFlags = on_control_ ? ImGuiConfigFlags_NavEnableKeyboard : ImGuiConfigFlags_None;
  const float scale = std::clamp(display_scale_ * zoom_, 0.5f, 6.0f);
  const bool rebuild = scale != built_scale_;
  if (rebuild) {
    built_scale_ = scale;
    const Fonts fonts = load_fonts(font_, scale);
    regular_ = fonts.regular;
    small_ = fonts.small;
    restyle_ = true;
  }
  if (restyle_) apply_theme(theme_, built_scale_, touch_);
  restyle_ = false;
  return rebuild;
}

bool App::restless() const {
  return (feed_ && feed_->busy) || ImGui::GetTime() - said_at_ < status_seconds + 0.2 || grab_;
}

bool App::open_view(std::string_view title) {
  for (std::size_t i = 0; i < views_.size(); ++i)
    if (lower_case(views_[i]->title()) == lower_case(title)) return view_ = i, true;
  return false;
}

void App::say(std::string text) {
  said_ = std::move(text);
  said_at_ = ImGui::GetTime();
}

void App::adopt(Screen& screen) {
  if (feed_->snapshot != shown_) {
    const bool first = !shown_ && feed_->snapshot;
    // While results of one comparison come in, the selection stays on its layer.
    std::string output;
    if (shown_ && selection_.current().layer < shown_->layers.size())
      output = shown_->layers[selection_.current().layer].output;
    shown_ = feed_->snapshot;
    ++snapshot_number_;
    Selection kept{no_place, selection_.current().target};
    if (shown_)
      for (std::size_t i = 0; i < shown_->layers.size() && !output.empty(); ++i)
        if (shown_->layers[i].output == output) kept.layer = i;
    if (shown_ && kept.layer == no_place) {
      // The initial selection: the first fault, else the first difference.
      for (const auto& first_of : {&TargetColumn::first_fault, &TargetColumn::first_divergence})
        for (std::size_t t = 0; t < shown_->targets.size() && kept.layer == no_place; ++t)
          if (shown_->targets[t].*first_of != no_place) kept = {shown_->targets[t].*first_of, t};
      if (kept.layer == no_place && !shown_->layers.empty()) kept.layer = 0;
    }
    selection_.reset(kept);
    if (first && view_ == 0 && !feed_->busy) open_view("Layers");
  }
  if (feed_->study != study_) {
    study_ = feed_->study;
    if (study_) open_view("Study");
  }
  if (feed_->attacks != attacks_) {
    attacks_ = feed_->attacks;
    if (attacks_) open_view("Attack");
  }
  if (feed_->curves != curves_) {
    curves_ = feed_->curves;
    if (curves_) open_view("Curves");
  }
  if (feed_->generation != generation_) {
    generation_ = feed_->generation;
    if (generation_) open_view("Generation");
  }
  screen.snapshot = shown_.get();
  screen.snapshot_number = snapshot_number_;
  if (wanted_layer_.empty() || !shown_) return;
  for (std::size_t i = 0; i < shown_->layers.size(); ++i)
    if (shown_->layers[i].node == wanted_layer_ || shown_->layers[i].output == wanted_layer_) {
      selection_.select_layer(i);
      wanted_layer_.clear();
      return;
    }
}

void App::frame() {
  feed_ = host_.feed();
  Screen screen{*feed_, nullptr, 0, selection_, theme_, host_, regular_, small_, built_scale_, !on_control_};
  adopt(screen);
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport->Pos);
  ImGui::SetNextWindowSize(viewport->Size);
  constexpr ImGuiWindowFlags flags =
      ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
      ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollWithMouse;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0.0f, 0.0f});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGui::Begin("Driftscope", nullptr, flags);
  ImGui::PopStyleVar(2);
  ImGui::PushFont(regular_);
  draw_top_bar(screen);
  draw_tabs(screen);
  draw_body(screen);
  draw_status(screen);
  draw_palette(screen);
  draw_help(screen);
  handle_keys(screen);
  ImGui::PopFont();
  ImGui::End();
  keep_arrows();
}

void App::keep_arrows() {
  // ImGui would use every arrow key to navigate the controls. Here that begins with Tab, and
  // ends with Escape or the mouse.
  if (ImGui::GetIO().WantTextInput) return;
  if (ImGui::IsKeyPressed(ImGuiKey_Tab)) {
    on_control_ = true;
    ImGui::GetCurrentContext()->NavDisableHighlight = false;
  }
  if (ImGui::IsKeyPressed(ImGuiKey_Escape) || ImGui::IsMouseClicked(ImGuiMouseButton_Left))
    on_control_ = false;
}

void App::draw_body(Screen& screen) {
  const float em = ImGui::GetFontSize();
  if (!shown_ && views_[view_]->needs_snapshot()) view_ = 0;
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ImGui::GetStyle().ItemSpacing.y);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float status = status_text().first.empty() ? 0.0f : small_->FontSize * 1.7f;
  const float height = std::max(40.0f, room.y - status);
  const bool selectable = shown_ && views_[view_]->needs_snapshot() && screen.layer_selected();
  const bool beside = details_ && selectable && room.x > 62.0f * em;
  const bool below = details_ && selectable && !beside && height > 22.0f * em;
  const float side = beside ? std::clamp(room.x * 0.24f, 18.0f * em, 25.0f * em) : 0.0f;
  const float strip = below ? em * 2.1f : 0.0f;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {em * 0.75f, em * 0.55f});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, im(theme_.panel));
  ImGui::BeginChild("view", {room.x - side - (beside ? 1.0f : 0.0f), height - strip},
                    ImGuiChildFlags_AlwaysUseWindowPadding,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  const ImVec2 low = ImGui::GetWindowPos();
  view_box_ = {low.x, low.y, low.x + ImGui::GetWindowWidth(), low.y + ImGui::GetWindowHeight()};
  views_[view_]->draw(screen);
  ImGui::EndChild();
  ImGui::PopStyleColor();
  if (beside) {
    ImGui::SameLine(0.0f, 1.0f);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, im(theme_.raised));
    ImGui::BeginChild("details", {side, height}, ImGuiChildFlags_AlwaysUseWindowPadding);
    draw_details(screen);
    ImGui::EndChild();
    ImGui::PopStyleColor();
  }
  if (below) {
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ImGui::GetStyle().ItemSpacing.y);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, im(theme_.raised));
    ImGui::BeginChild("details", {room.x, strip}, ImGuiChildFlags_AlwaysUseWindowPadding,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    draw_details_line(screen);
    ImGui::EndChild();
    ImGui::PopStyleColor();
  }
  ImGui::PopStyleVar();
}

void App::after_render(const std::function<Image(Box)>& read) {
  if (!grab_) return;
  grab_ = false;
  save_image(read(view_box_));
}

}  // namespace driftscope::gui
