#include "core/gui/imgui/app.hpp"

#include <imgui_internal.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/gui/imgui/style.hpp"
#include "core/gui/imgui/widgets.hpp"
#include "core/report/format.hpp"

namespace driftscope::gui {
namespace {

constexpr double message_seconds = 5.0;

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
      theme_(options.dark ? dark_theme() : light_theme()),
      display_scale_(options.scale),
      details_(options.details),
      touch_(options.touch) {
  views_.push_back(make_start_view());
  views_.push_back(make_layers_view());
  views_.push_back(make_drift_view());
  views_.push_back(make_tensor_view());
  views_.push_back(make_time_view());
  views_.push_back(make_memory_view());
  views_.push_back(make_graph_view());
  views_.push_back(make_summary_view());
  views_.push_back(make_runs_view());
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
  return (feed_ && feed_->busy) || ImGui::GetTime() - said_at_ < message_seconds + 0.2 || grab_;
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
    // While results of one comparison come in, what was selected stays where its layer is.
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
      // Where one looks first: the first fault, else the first difference.
      for (const auto& first_of : {&TargetColumn::first_fault, &TargetColumn::first_divergence})
        for (std::size_t t = 0; t < shown_->targets.size() && kept.layer == no_place; ++t)
          if (shown_->targets[t].*first_of != no_place) kept = {shown_->targets[t].*first_of, t};
      if (kept.layer == no_place && !shown_->layers.empty()) kept.layer = 0;
    }
    selection_.reset(kept);
    if (first && view_ == 0 && !feed_->busy) view_ = 1;
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
  // ImGui would take every arrow key as the wish to go through the controls. That begins with Tab here, and
  // ends with Escape or the mouse.
  if (ImGui::GetIO().WantTextInput) return;
  if (ImGui::IsKeyPressed(ImGuiKey_Tab)) {
    on_control_ = true;
    ImGui::GetCurrentContext()->NavDisableHighlight = false;
  }
  if (ImGui::IsKeyPressed(ImGuiKey_Escape) || ImGui::IsMouseClicked(ImGuiMouseButton_Left))
    on_control_ = false;
}

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
    for (const TargetColumn& target : shown_->targets)
      if (target.verdict != Verdict::missing && (worst == Verdict::missing || target.verdict > worst))
        worst = target.verdict;
    const std::string headline = snapshot_headline(*shown_);
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
  const float height = em * (touch_ ? 2.6f : 2.0f);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(at, {at.x + width, at.y + height}, im(theme_.panel));
  list->AddLine({at.x, at.y + height - 0.5f}, {at.x + width, at.y + height - 0.5f}, im(theme_.line));
  // All tabs stay in sight: narrow windows have narrow gaps, and small letters.
  auto painter = screen.painter();
  const auto words_in = [&](bool small) {
    float sum = 0.0f;
    for (const auto& view : views_) sum += painter.text_width(view->title(), small);
    return sum;
  };
  const bool small = words_in(false) + em * (0.3f * static_cast<float>(views_.size()) + 1.0f) > width;
  const float words = words_in(small);
  const float gap =
      std::clamp((width - words - em) / static_cast<float>(views_.size()), em * 0.3f, em * 1.3f);
  float x = at.x + em * 0.75f - gap * 0.5f + (gap < em ? gap * 0.2f : 0.0f);
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const std::string_view title = views_[i]->title();
    const float tab = painter.text_width(title, small) + gap;
    const bool possible = shown_ || !views_[i]->needs_snapshot();
    ImGui::SetCursorScreenPos({x, at.y});
    ImGui::PushID(static_cast<int>(i));
    ImGui::BeginDisabled(!possible);
    if (ImGui::InvisibleButton("tab", {tab, height})) view_ = i;
    ImGui::EndDisabled();
    const bool hovered = ImGui::IsItemHovered();
    if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
      painter.frame({x, at.y + 2.0f, x + tab, at.y + height - 2.0f}, theme_.accent, 1.0f, 3.0f);
    hint(fmt::format("Key: {}", i + 1).c_str());
    ImGui::PopID();
    const bool active = i == view_;
    painter.text({x + tab / 2.0f, at.y + height * 0.47f}, title,
                 !possible           ? with_alpha(theme_.dim, 0.45f)
                 : active || hovered ? theme_.ink
                                     : theme_.dim,
                 Anchor::middle, small);
    if (active)
      list->AddRectFilled({x + gap * 0.2f, at.y + height - 2.5f * built_scale_},
                          {x + tab - gap * 0.2f, at.y + height}, im(theme_.accent));
    x += tab;
  }
  ImGui::SetCursorScreenPos({at.x, at.y + height});
  ImGui::Dummy({0.0f, 0.0f});
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

std::pair<std::string, Colour> App::status_text() const {
  if (ImGui::GetTime() - said_at_ < message_seconds) return {said_, theme_.ink};
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
  painter.text({low.x + em * 0.75f, y + height / 2.0f}, elide(text, letters), colour, Anchor::start, true);
}

void App::after_render(const std::function<Image(Box)>& read) {
  if (!grab_) return;
  grab_ = false;
  save_image(read(view_box_));
}

}  // namespace driftscope::gui
