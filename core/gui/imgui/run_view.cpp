// Run: what to run and where, and its progress.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/format.hpp"
#include "core/draw/verdict_mark.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {
namespace {

class RunView final : public View {
 public:
  int place() const override { return 10; }
  bool needs_snapshot() const override { return false; }

  void draw(Screen& screen) override {
    if (!ImGui::BeginChild("start")) return ImGui::EndChild();
    const float em = ImGui::GetFontSize();
    const float room = ImGui::GetContentRegionAvail().x;
    const bool beside = room > 46.0f * em;
    if (!screen.snapshot && !screen.feed.busy && screen.feed.progress.empty()) draw_welcome(screen);
    const float left = beside ? std::min(room * 0.44f, 30.0f * em) : room;
    ImGui::BeginChild("what", {left, 0.0f}, ImGuiChildFlags_AutoResizeY);
    draw_model(screen);
    draw_targets(screen);
    draw_checks(screen);
    draw_actions(screen);
    ImGui::EndChild();
    if (beside) ImGui::SameLine(0.0f, 2.0f * em);
    ImGui::BeginChild("progress", {0.0f, 0.0f}, ImGuiChildFlags_AutoResizeY);
    draw_progress(screen);
    ImGui::EndChild();
    ImGui::EndChild();
  }

  Table table(const Screen& screen) const override {
    Table table = {{"target", "here", "detail"}};
    for (const TargetChoice& choice : screen.feed.targets)
      table.push_back({choice.target, choice.available ? "yes" : "no", choice.detail});
    return table;
  }

 private:
  void draw_welcome(Screen& screen) {
    ImGui::TextWrapped(
        "One model, several engines: which layer differs, is it a bug or rounding, what does it cost?");
    ImGui::PushStyleColor(ImGuiCol_Text, im(screen.theme.dim));
    ImGui::TextWrapped(
        "Drop an .onnx model, a picture, a trace, a kept comparison (.drift), training curves, or the folder "
        "of a study or an attack anywhere on this window; or try the demo:");
    ImGui::PopStyleColor();
    if (accent_button(screen, "Run the demo")) screen.host.run_demo();
    hint("LeNet-5 on a real handwritten digit, on every target that this machine can run");
    ImGui::Dummy({0.0f, ImGui::GetFontSize() * 0.6f});
  }

  void draw_model(Screen& screen) {
    const Feed& feed = screen.feed;
    ImGui::SeparatorText("Model");
    ImGui::BeginDisabled(feed.busy);
    ImGui::SetNextItemWidth(-1.0f);
    const char* preview = feed.model < feed.models.size() ? feed.models[feed.model].c_str() : "none";
    if (ImGui::BeginCombo("##model", preview, ImGuiComboFlags_HeightLarge)) {
      for (std::size_t i = 0; i < feed.models.size(); ++i)
        if (ImGui::Selectable(feed.models[i].c_str(), i == feed.model)) screen.host.choose_model(i);
      ImGui::EndCombo();
    }
    if (feed.samples > 1) {
      int sample = static_cast<int>(feed.sample);
      ImGui::SetNextItemWidth(ImGui::GetFontSize() * 9.0f);
      if (ImGui::InputInt("sample", &sample, 1, 10))
        screen.host.choose_sample(std::clamp<std::int64_t>(sample, 0, feed.samples - 1));
      ImGui::SameLine();
      small_text(screen, fmt::format("of {}", feed.samples), screen.theme.dim);
      ImGui::Checkbox(fmt::format("also all {}, for the accuracy###all", feed.samples).c_str(),
                      &checks_.dataset);
      hint(
          "How many samples each target predicts as labelled, and how many like the first target: see "
          "Summary");
    }
    if (!feed.input.empty()) {
      ImGui::PushTextWrapPos(0.0f);
      small_text(screen, "input: " + feed.input, screen.theme.dim);
      ImGui::PopTextWrapPos();
    }
    ImGui::EndDisabled();
  }

  void draw_targets(Screen& screen) {
    ImGui::SeparatorText("Targets");
    small_text(screen, "The others are compared with the first one chosen.", screen.theme.dim);
    ImGui::BeginDisabled(screen.feed.busy);
    std::string_view host;
    for (const TargetChoice& choice : screen.feed.targets) {
      const std::string_view whole = choice.target;
      const auto slash = whole.find('/');
      const bool first = host != whole.substr(0, slash);
      if (first) begin_host(screen, choice, host = whole.substr(0, slash));
      draw_choice(choice, std::string(slash == std::string_view::npos ? whole : whole.substr(slash + 1)),
                  first);
    }
    ImGui::EndDisabled();
  }

  // The host's name, and its version or why it is not here.
  static void begin_host(Screen& screen, const TargetChoice& choice, std::string_view host) {
    ImGui::Dummy({0.0f, ImGui::GetFontSize() * 0.2f});
    ImGui::TextUnformatted(host.data(), host.data() + host.size());
    if (choice.detail.empty()) return;
    ImGui::SameLine();
    ImGui::PushTextWrapPos(0.0f);
    small_text(screen, (choice.available ? "" : "not here: ") + choice.detail, screen.theme.dim);
    ImGui::PopTextWrapPos();
  }

  // The engines of a host side by side, as many as fit.
  void draw_choice(const TargetChoice& choice, const std::string& engine, bool first) {
    const auto [entry, added] = chosen_.emplace(choice.target, choice.available && choice.by_default);
    const ImGuiStyle& style = ImGui::GetStyle();
    const float width =
        ImGui::GetFrameHeight() + style.ItemInnerSpacing.x + ImGui::CalcTextSize(engine.c_str()).x;
    if (!first) {
      ImGui::SameLine(0.0f, ImGui::GetFontSize());
      if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
    }
    ImGui::BeginDisabled(!choice.available);
    bool on = entry->second && choice.available;
    if (ImGui::Checkbox(fmt::format("{}##{}", engine, choice.target).c_str(), &on)) entry->second = on;
    ImGui::EndDisabled();
    if (!choice.detail.empty()) hint(((choice.available ? "" : "not here: ") + choice.detail).c_str());
  }

  void draw_checks(Screen& screen) {
    ImGui::SeparatorText("Also check");
    ImGui::BeginDisabled(screen.feed.busy);
    const auto check = [](const char* label, bool& on, const char* help) {
      ImGui::Checkbox(label, &on);
      hint(help);
    };
    check("repeated runs", checks_.repeat_check,
          "Do ten runs of each target give the same bits? Where they do not, which run is right?");
    ImGui::SameLine(0.0f, ImGui::GetFontSize());
    check("capturing", checks_.perturbation_check,
          "Does recording the layers change the outputs? Each target runs once more with its outputs alone.");
    ImGui::SameLine(0.0f, ImGui::GetFontSize());
    check(
        "memory", checks_.watch_memory,
        "Does memory grow from run to run? Each target runs up to 200 more times, for two minutes at most.");
    ImGui::EndDisabled();
  }

  void draw_actions(Screen& screen) {
    ImGui::Dummy({0.0f, ImGui::GetFontSize() * 0.3f});
    std::vector<std::string> targets;
    for (const TargetChoice& choice : screen.feed.targets)
      if (choice.available && chosen_[choice.target]) targets.push_back(choice.target);
    if (screen.feed.busy) {
      if (ImGui::Button("Stop")) screen.host.stop();
      return;
    }
    ImGui::BeginDisabled(targets.empty() || screen.feed.models.empty());
    const std::string label =
        targets.size() > 1 ? fmt::format("Compare {} targets###go", targets.size()) : "Run###go";
    if (accent_button(screen, label.c_str())) {
      RunChoice choice = checks_;
      choice.targets = std::move(targets);
      choice.dataset = choice.dataset && screen.feed.samples > 1;
      screen.host.run(std::move(choice));
    }
    ImGui::EndDisabled();
    if (!screen.snapshot) return;
    ImGui::SameLine();
    if (ImGui::Button("Run the demo")) screen.host.run_demo();
  }

  static void draw_progress(Screen& screen) {
    const Feed& feed = screen.feed;
    if (feed.progress.empty() && feed.doing.empty() && feed.error.empty()) return;
    ImGui::SeparatorText(feed.busy ? "Working" : "Last run");
    if (!feed.doing.empty()) ImGui::TextUnformatted(feed.doing.c_str());
    if (!feed.error.empty()) {
      ImGui::PushTextWrapPos(0.0f);
      ImGui::TextColored(im4(screen.theme.verdict(Verdict::fault)), "%s", feed.error.c_str());
      ImGui::PopTextWrapPos();
    }
    for (const TargetProgress& one : feed.progress) draw_target(screen, one);
  }

  static void draw_target(Screen& screen, const TargetProgress& one) {
    const float em = ImGui::GetFontSize();
    using State = TargetProgress::State;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    auto painter = screen.painter();
    const float right = at.x + ImGui::GetContentRegionAvail().x;
    const char* word = one.state == State::waiting  ? "waiting"
                       : one.state == State::done   ? "done"
                       : one.state == State::failed ? "failed"
                                                    : "";
    const std::string step = one.state == State::running ? one.step : word;
    const Colour colour = one.state == State::failed    ? screen.theme.verdict(Verdict::fault)
                          : one.state == State::waiting ? screen.theme.dim
                                                        : screen.theme.ink;
    painter.text({at.x, at.y + em * 0.7f}, one.target, screen.theme.ink, Anchor::start, false);
    const std::string count =
        one.state == State::running && one.total > 0
            ? fmt::format("{}  {:.0f} %", step,
                          100.0 * static_cast<double>(one.done) / static_cast<double>(one.total))
            : step;
    painter.text({right, at.y + em * 0.7f}, count, colour, Anchor::end, true);
    const float y = at.y + em * 1.55f;
    painter.fill({at.x, y, right, y + 4.0f * screen.scale}, screen.theme.grid, 2.0f);
    float share = one.state == State::done ? 1.0f
                  : one.total > 0
                      ? static_cast<float>(static_cast<double>(one.done) / static_cast<double>(one.total))
                      : 0.0f;
    if (one.state == State::running && one.total == 0) {
      // The share is unknown: an animation shows activity.
      const auto t = static_cast<float>(std::fmod(ImGui::GetTime() * 0.6, 1.0));
      const float from = at.x + (right - at.x) * t * 0.8f;
      painter.fill({from, y, from + (right - at.x) * 0.2f, y + 4.0f * screen.scale}, screen.theme.accent,
                   2.0f);
      share = 0.0f;
    }
    if (share > 0.0f)
      painter.fill({at.x, y, at.x + (right - at.x) * share, y + 4.0f * screen.scale},
                   one.state == State::failed ? screen.theme.verdict(Verdict::fault) : screen.theme.accent,
                   2.0f);
    ImGui::Dummy({right - at.x, em * 2.1f});
    if (one.error.empty()) return;
    ImGui::PushTextWrapPos(0.0f);
    small_text(screen, one.error, screen.theme.verdict(Verdict::fault));
    ImGui::PopTextWrapPos();
  }

  std::map<std::string, bool> chosen_;
  RunChoice checks_;  // without targets
};

}  // namespace

std::unique_ptr<View> make_run_view() { return std::make_unique<RunView>(); }

}  // namespace driftscope::gui
