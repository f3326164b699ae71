// Commands, by name (the palette) and by key, and exports from the application: clipboard and files.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/draw/png.hpp"
#include "core/gui/imgui/app.hpp"
#include "core/gui/imgui/why_panel.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {
namespace {

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Whether `name` contains all letters of `typed`, in this order.
bool matches_typed(std::string_view name, std::string_view typed) {
  std::size_t at = 0;
  for (const char c : typed) {
    if (c == ' ') continue;
    while (at < name.size() && lower_letter(name[at]) != lower_letter(c)) ++at;
    if (at++ >= name.size()) return false;
  }
  return true;
}

bool pressed(ImGuiKey key) { return ImGui::IsKeyPressed(key, false); }

}  // namespace

std::vector<App::Command> App::commands(Screen& screen) {
  std::vector<Command> list;
  const bool open = shown_ != nullptr;
  static constexpr const char* digits[view_keys] = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
  for (std::size_t i = 0; i < views_.size(); ++i)
    list.push_back({fmt::format("View: {}", views_[i]->title()), i < view_keys ? digits[i] : "",
                    [this, i] { view_ = i; }, open || !views_[i]->needs_snapshot()});
  list.push_back({"Go to the next fault", "F", [this, &screen] { next_fault(screen); }, open});
  list.push_back({"Go to the first difference", "D",
                  [this, &screen] {
                    const std::size_t place = screen.snapshot->targets[screen.target()].first_divergence;
                    if (place != no_place)
                      screen.selection.select_layer(place);
                    else
                      say("No differing bit on this target.");
                  },
                  open});
  list.push_back({"Next target", "]", [this, &screen] { step_target(screen, 1); }, open});
  list.push_back({"Previous target", "[", [this, &screen] { step_target(screen, -1); }, open});
  list.push_back(
      {"Back to the last selection", "Ctrl+Z", [this] { selection_.undo(); }, selection_.can_undo()});
  list.push_back({"Forward again", "Ctrl+Y", [this] { selection_.redo(); }, selection_.can_redo()});
  list.push_back({"Filter layers", "/",
                  [this] {
                    if (open_view("Layers")) views_[view_]->focus_filter();
                  },
                  open});
  list.push_back({"Copy the view as text", "Ctrl+C", [this, &screen] { copy_table(screen, false); }, true});
  list.push_back(
      {"Copy the view as CSV", "Ctrl+Shift+C", [this, &screen] { copy_table(screen, true); }, true});
  list.push_back({"Save the view as CSV", "Ctrl+S", [this, &screen] { save_table(screen); }, true});
  list.push_back({"Save the picture as SVG", "Ctrl+E", [this, &screen] { save_svg(screen); }, open});
  list.push_back({"Save the picture as PNG", "Ctrl+P", [this, &screen] { save_png(screen); }, true});
  list.push_back({"Run the demo", "",
                  [this] {
                    host_.run_demo();
                    open_view("Run");
                  },
                  !feed_->busy});
  list.push_back({"Stop", "Ctrl+.", [this] { host_.stop(); }, feed_->busy});
  list.push_back({theme_.dark ? "Light colours" : "Dark colours", "T",
                  [this] {
                    theme_ = theme_.dark ? light_theme() : dark_theme();
                    restyle_ = true;
                  },
                  true});
  list.push_back(
      {details_ ? "Hide the details" : "Show the details", "I", [this] { details_ = !details_; }, open});
  list.push_back({"Larger", "Ctrl++", [this] { zoom_ = std::min(3.0f, zoom_ * 1.1f); }, true});
  list.push_back({"Smaller", "Ctrl+-", [this] { zoom_ = std::max(0.5f, zoom_ / 1.1f); }, true});
  list.push_back({"Usual size", "Ctrl+0", [this] { zoom_ = 1.0f; }, true});
  list.push_back({"Keys", "?", [this] { open_help_ = true; }, true});
  const std::size_t layer = selection_.current().layer;
  const std::size_t wrong = open && screen.layer_selected() ? why_target(screen, layer) : no_place;
  for (const WorkButton& button : work_buttons())
    list.push_back({button.command, "",
                    [this, &screen, work = button.work, layer, wrong] {
                      if (!start_work(screen, work, layer, wrong))
                        say("Copied what to type on the command line.");
                    },
                    wrong != no_place && !feed_->busy});
  if (open)
    for (std::size_t i = 0; i < shown_->layers.size(); ++i)
      list.push_back(
          {"Layer: " + shown_->layers[i].node, "", [this, i] { selection_.select_layer(i); }, true});
  return list;
}

void App::handle_keys(Screen& screen) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool popup = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  if (io.KeyCtrl && pressed(ImGuiKey_K)) open_palette_ = true;
  if (popup) return;
  // In text fields their own keys apply, including Ctrl+C.
  if (io.WantTextInput) return;
  if (io.KeyCtrl) {
    if (pressed(ImGuiKey_Z)) io.KeyShift ? selection_.redo() : selection_.undo();
    if (pressed(ImGuiKey_Y)) selection_.redo();
    if (pressed(ImGuiKey_C)) copy_table(screen, io.KeyShift);
    if (pressed(ImGuiKey_S)) save_table(screen);
    if (pressed(ImGuiKey_E)) save_svg(screen);
    if (pressed(ImGuiKey_P)) save_png(screen);
    if (pressed(ImGuiKey_Period)) host_.stop();
    if (pressed(ImGuiKey_Equal) || pressed(ImGuiKey_KeypadAdd)) zoom_ = std::min(3.0f, zoom_ * 1.1f);
    if (pressed(ImGuiKey_Minus) || pressed(ImGuiKey_KeypadSubtract)) zoom_ = std::max(0.5f, zoom_ / 1.1f);
    if (pressed(ImGuiKey_0)) zoom_ = 1.0f;
    return;
  }
  if (io.KeyAlt) {
    if (pressed(ImGuiKey_LeftArrow)) selection_.undo();
    if (pressed(ImGuiKey_RightArrow)) selection_.redo();
    return;
  }
  for (std::size_t i = 0; i < std::min(views_.size(), view_keys); ++i)
    if (pressed(static_cast<ImGuiKey>(ImGuiKey_1 + static_cast<int>(i))) &&
        (shown_ || !views_[i]->needs_snapshot()))
      view_ = i;
  if (pressed(ImGuiKey_T)) {
    theme_ = theme_.dark ? light_theme() : dark_theme();
    restyle_ = true;
  }
  if (io.KeyShift && pressed(ImGuiKey_Slash)) {
    open_help_ = true;
    return;
  }
  if (!shown_) return;
  if (pressed(ImGuiKey_Slash) && open_view("Layers")) views_[view_]->focus_filter();
  if (pressed(ImGuiKey_F)) next_fault(screen);
  if (pressed(ImGuiKey_D) && screen.snapshot->targets[screen.target()].first_divergence != no_place)
    selection_.select_layer(screen.snapshot->targets[screen.target()].first_divergence);
  if (ImGui::IsKeyPressed(ImGuiKey_RightBracket)) step_target(screen, 1);
  if (ImGui::IsKeyPressed(ImGuiKey_LeftBracket)) step_target(screen, -1);
  if (pressed(ImGuiKey_I)) details_ = !details_;
  // The layers view steps in the order of its rows; others in the model's order.
  if (views_[view_]->title() == "Layers" || !views_[view_]->needs_snapshot() || shown_->layers.empty())
    return;
  const std::size_t here = screen.selected().layer;
  const bool down =
      (ImGui::IsKeyPressed(ImGuiKey_DownArrow) && screen.arrows) || ImGui::IsKeyPressed(ImGuiKey_J);
  const bool up = (ImGui::IsKeyPressed(ImGuiKey_UpArrow) && screen.arrows) || ImGui::IsKeyPressed(ImGuiKey_K);
  if (down)
    selection_.select_layer(here >= shown_->layers.size() ? 0
                                                          : std::min(here + 1, shown_->layers.size() - 1));
  if (up && here < shown_->layers.size()) selection_.select_layer(here > 0 ? here - 1 : 0);
}

void App::step_target(Screen& screen, int by) {
  const auto count = static_cast<int>(screen.snapshot->targets.size());
  if (count == 0) return;
  selection_.select_target(
      static_cast<std::size_t>((static_cast<int>(screen.target()) + by + count) % count));
}

void App::next_fault(Screen& screen) {
  const Snapshot& snapshot = *screen.snapshot;
  const std::size_t count = snapshot.layers.size();
  const std::size_t start = screen.layer_selected() ? screen.selected().layer + 1 : 0;
  for (std::size_t step = 0; step < count; ++step) {
    const std::size_t layer = (start + step) % count;
    for (std::size_t t = 0; t < snapshot.targets.size(); ++t)
      if (snapshot.cell(layer, t).verdict == Verdict::fault) return screen.selection.select({layer, t});
  }
  say("No layer is a fault.");
}

std::string App::file_name(const char* extension) const {
  std::string name = "driftscope";
  if (shown_ && !shown_->title.empty()) name = shown_->title.substr(0, shown_->title.rfind('.'));
  name += "-" + std::string(views_[view_]->title()) + extension;
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (!plain) c = c >= 'A' && c <= 'Z' ? lower_letter(c) : '-';
  }
  return name;
}

void App::copy_table(Screen& screen, bool csv) {
  if (!shown_ && views_[view_]->needs_snapshot()) return say("Nothing is open.");
  const Table table = views_[view_]->table(screen);
  if (table.empty()) return say("This view has no table.");
  ImGui::SetClipboardText((csv ? csv_text(table) : plain_text(table)).c_str());
  say(fmt::format("Copied {} row{} as {}.", table.size() - 1, table.size() == 2 ? "" : "s",
                  csv ? "CSV" : "text"));
}

void App::save_table(Screen& screen) {
  if (!shown_ && views_[view_]->needs_snapshot()) return say("Nothing is open.");
  const Table table = views_[view_]->table(screen);
  if (table.empty()) return say("This view has no table.");
  const std::string text = csv_text(table);
  say(host_.save(file_name(".csv"), std::as_bytes(std::span(text))));
}

void App::save_svg(Screen& screen) {
  if (!shown_ && views_[view_]->needs_snapshot()) return say("Nothing is open.");
  const SavedPicture picture = views_[view_]->picture(screen);
  if (picture.svg.empty()) return say("This view is not a drawing: save it as PNG (Ctrl+P) or CSV (Ctrl+S).");
  say(host_.save(file_name(".svg"), std::as_bytes(std::span(picture.svg))));
}

void App::save_png(Screen& screen) {
  if (!shown_ && views_[view_]->needs_snapshot()) return say("Nothing is open.");
  const SavedPicture picture = views_[view_]->picture(screen);
  if (picture.pixels.pixels.empty())
    grab_ = true;
  else
    save_image(picture.pixels);
}

void App::save_image(const Image& image) {
  const auto file = png_file(image);
  if (file.empty()) return say("There is no image to save.");
  say(host_.save(file_name(".png"), file));
}

void App::draw_palette(Screen& screen) {
  const float em = ImGui::GetFontSize();
  if (open_palette_) {
    open_palette_ = false;
    palette_text_[0] = '\0';
    palette_place_ = 0;
    ImGui::OpenPopup("palette");
  }
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float width = std::min(viewport->Size.x - 2.0f * em, 34.0f * em);
  ImGui::SetNextWindowPos({viewport->Pos.x + (viewport->Size.x - width) / 2.0f,
                           viewport->Pos.y + std::min(5.0f * em, viewport->Size.y * 0.1f)});
  ImGui::SetNextWindowSize({width, 0.0f});
  if (!ImGui::BeginPopup("palette", ImGuiWindowFlags_NoMove)) return;
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1.0f);
  if (ImGui::InputTextWithHint("##command", "A command, or a layer's name", palette_text_,
                               sizeof palette_text_))
    palette_place_ = 0;
  std::vector<Command> found = commands(screen);
  std::erase_if(found, [&](const Command& one) {
    const bool layer = one.name.rfind("Layer: ", 0) == 0;
    return !one.possible || !matches_typed(one.name, palette_text_) || (layer && palette_text_[0] == '\0');
  });
  constexpr std::size_t max_shown = 14;
  if (found.size() > max_shown) found.resize(max_shown);
  const int last = static_cast<int>(found.size()) - 1;
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++palette_place_;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) --palette_place_;
  palette_place_ = std::clamp(palette_place_, 0, std::max(0, last));
  const bool enter =
      ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false);
  std::function<void()> act;
  for (int i = 0; i <= last; ++i) {
    const Command& one = found[static_cast<std::size_t>(i)];
    ImGui::PushID(i);
    if (ImGui::Selectable(one.name.c_str(), i == palette_place_) || (enter && i == palette_place_))
      act = one.act;
    if (*one.keys != '\0') {
      ImGui::SameLine(0.0f, 0.0f);
      right_text(one.keys, theme_.dim);
    }
    ImGui::PopID();
  }
  if (found.empty()) ImGui::TextColored(im4(theme_.dim), "Nothing has this name.");
  if (act || ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
  if (act) act();
}

void App::draw_help(Screen& screen) {
  if (open_help_) ImGui::OpenPopup("Keys");
  open_help_ = false;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(
      {viewport->Pos.x + viewport->Size.x / 2.0f, viewport->Pos.y + viewport->Size.y / 2.0f}, 0,
      {0.5f, 0.5f});
  if (!ImGui::BeginPopup("Keys", ImGuiWindowFlags_NoMove)) return;
  if (ImGui::BeginTable("keys", 4, ImGuiTableFlags_SizingFixedFit)) {
    const auto row = [&](const char* keys, const std::string& what) {
      ImGui::TableNextColumn();
      right_text(keys, theme_.accent);
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(what.c_str());
    };
    row("Up Down  K J", "layer before, after");
    row("Ctrl+K", "every command by name");
    row("Tab, arrows, Space", "any control");
    for (const Command& one : commands(screen))
      if (*one.keys != '\0' && one.name.rfind("Layer: ", 0) != 0) row(one.keys, one.name);
    ImGui::EndTable();
  }
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace driftscope::gui
