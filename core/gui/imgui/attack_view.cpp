// Attack: how often attacks succeed on each target, whether adversarials of one fool another, robustness of
// targets against several attacks, and adversarials with what changed in them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/adversarial_pictures.hpp"
#include "core/draw/bar_chart.hpp"
#include "core/draw/radar_chart.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/gui/imgui/widgets.hpp"
#include "core/report/attack_charts.hpp"

namespace driftscope::gui {
namespace {

constexpr std::size_t shown_examples = 12;

/// One adversarial on the screen.
struct ShownExample {
  AttackExample example;
  AdversarialPictures pictures;
  std::uintptr_t original = 0;
  std::uintptr_t changed = 0;
  std::uintptr_t difference = 0;
};

class AttackScreen final : public View {
 public:
  ~AttackScreen() override { release(); }
  int place() const override { return 96; }
  bool needs_snapshot() const override { return false; }

  void draw(Screen& screen) override {
    host_ = &screen.host;
    update(screen);
    if (!attacks_ || attacks_->empty())
      return empty_state(
          screen, "No attack is open.",
          "driftscope attack MODEL --method fgsm … -o FOLDER keeps one: drop the folder here,\n"
          "or driftscope gui FOLDER opens it, several beside each other.");
    draw_choice(screen);
    if (!ImGui::BeginChild("attack")) return ImGui::EndChild();
    if (chosen_ < attacks_->size())
      draw_attack(screen, (*attacks_)[chosen_]);
    else
      draw_robustness(screen);
    ImGui::EndChild();
  }

  Table table(const Screen&) const override {
    Table table = {{"attack", "target", "successes", "samples", "mean L∞", "mean L2", "queries"}};
    if (!attacks_) return table;
    for (const AttackResults& one : *attacks_)
      for (const documents::AttackResult& result : one.attack.results)
        table.push_back({attack_name(one.attack), result.target, std::to_string(result.successes),
                         std::to_string(one.attack.samples), fmt::format("{}", result.mean_linf),
                         fmt::format("{}", result.mean_l2), std::to_string(result.queries)});
    return table;
  }

  SavedPicture picture(const Screen& screen) const override {
    if (!attacks_ || attacks_->size() < min_radar_axes || chosen_ < attacks_->size()) return {};
    SvgPainter painter(760.0f, 560.0f, screen.theme.panel);
    paint_radar(painter, {16.0f, 16.0f, 744.0f, 544.0f}, robustness_.attacks, radar_series(robustness_),
                screen.theme);
    return {painter.finish(), {}};
  }

 private:
  void update(Screen& screen) {
    if (attacks_ != screen.feed.attacks) {
      attacks_ = screen.feed.attacks;
      robustness_ = attacks_ ? survival_rates(*attacks_) : SurvivalRates();
      chosen_ = attacks_ && !attacks_->empty() ? attacks_->size() - 1 : 0;
      shown_ = no_place;
    }
    if (!attacks_ || shown_ == chosen_) return;
    release();
    shown_ = chosen_;
    if (chosen_ >= attacks_->size()) return;
    const AttackResults& results = (*attacks_)[chosen_];
    for (AttackExample& example : results.examples(shown_examples)) {
      ShownExample& one = examples_.emplace_back();
      one.pictures = pictures_of(results, example);
      one.example = std::move(example);
      one.original = screen.host.make_texture(one.pictures.original);
      one.changed = screen.host.make_texture(one.pictures.changed);
      one.difference = screen.host.make_texture(one.pictures.difference);
    }
  }

  void release() {
    for (const ShownExample& one : examples_)
      for (const std::uintptr_t texture : {one.original, one.changed, one.difference})
        if (texture != 0 && host_ != nullptr) host_->release_texture(texture);
    examples_.clear();
  }

  void draw_choice(const Screen& screen) {
    const documents::Attack& first = attacks_->front().attack;
    ImGui::PushTextWrapPos(0.0f);
    ImGui::TextUnformatted(fmt::format("{} under attack", attacked_model(first)).c_str());
    small_text(screen,
               fmt::format("{} samples, which all targets answer rightly before{}", first.samples,
                           first.dataset.empty() ? "" : " · " + without_folders(first.dataset)),
               screen.theme.dim);
    ImGui::PopTextWrapPos();
    for (std::size_t i = 0; i <= attacks_->size(); ++i) {
      const bool all = i == attacks_->size();
      if (all && attacks_->size() < 2) break;
      const std::string name = all ? "Robustness" : attack_name((*attacks_)[i].attack);
      if (i > 0) flow(button_width(name.c_str()));
      ImGui::PushID(static_cast<int>(i));
      const bool pressed = i == chosen_ ? accent_button(screen, name.c_str()) : ImGui::Button(name.c_str());
      ImGui::PopID();
      if (pressed) chosen_ = i;
    }
    ImGui::Dummy({0.0f, ImGui::GetFontSize() * 0.3f});
  }

  static void draw_bars(Screen& screen, const char* id, const std::vector<Bar>& bars) {
    auto measure = screen.painter();
    const Canvas area =
        canvas(id, {ImGui::GetContentRegionAvail().x, bar_chart_height(bars.size(), measure.unit())});
    auto painter = screen.painter();
    paint_bars(painter, area.box, bars, false, screen.theme, 100.0);
  }

  void draw_attack(Screen& screen, const AttackResults& results) const {
    ImGui::SeparatorText("Success by target");
    draw_bars(screen, "success", success_bars(results, robustness_));
    if (const std::vector<Bar> transfer = transfer_bars(results, robustness_); !transfer.empty()) {
      ImGui::SeparatorText("Adversarials that fool another target as well");
      draw_bars(screen, "transfer", transfer);
    }
    if (examples_.empty()) {
      small_text(screen, "Its adversarials were not kept: attack -o FOLDER keeps them.", screen.theme.dim);
      return;
    }
    ImGui::SeparatorText("Adversarial examples");
    const float em = ImGui::GetFontSize();
    const int across = std::max(1, static_cast<int>(ImGui::GetContentRegionAvail().x / (25.0f * em)));
    if (!ImGui::BeginTable("examples", across, ImGuiTableFlags_SizingStretchSame)) return;
    for (const ShownExample& one : examples_) {
      ImGui::TableNextColumn();
      draw_example(screen, results, one);
    }
    ImGui::EndTable();
  }

  static void draw_picture(const Screen& screen, const Image& image, std::uintptr_t texture,
                           const std::string& caption, float side) {
    if (image.pixels.empty()) return;
    ImGui::BeginGroup();
    const auto longer = static_cast<float>(std::max(image.width, image.height));
    const ImVec2 size = {side * static_cast<float>(image.width) / longer,
                         side * static_cast<float>(image.height) / longer};
    if (texture != 0)
      ImGui::Image(reinterpret_cast<ImTextureID>(texture), size);
    else
      ImGui::Dummy(size);
    small_text(screen, caption, screen.theme.dim);
    ImGui::EndGroup();
  }

  static void draw_example(const Screen& screen, const AttackResults& results, const ShownExample& one) {
    const float em = ImGui::GetFontSize();
    const AttackExample& example = one.example;
    ImGui::TextUnformatted(fmt::format("Sample {}{}", example.number,
                                       example.label ? fmt::format(", class {}", *example.label) : "")
                               .c_str());
    small_text(screen, "attacked on " + attacked_text(results, example), screen.theme.dim);
    const float side = 6.6f * em;
    draw_picture(screen, one.pictures.original, one.original, "original", side);
    ImGui::SameLine(0.0f, 0.6f * em);
    draw_picture(screen, one.pictures.changed, one.changed, "adversarial", side);
    ImGui::SameLine(0.0f, 0.6f * em);
    draw_picture(screen, one.pictures.difference, one.difference,
                 fmt::format("difference × {}", format_number(one.pictures.enlarged)), side);
    if (one.pictures.original.pixels.empty()) small_text(screen, changes_text(example), screen.theme.dim);
    for (std::size_t t = 0; t < example.answers.size(); ++t) {
      const auto& answer = example.answers[t];
      const bool fooled = answer && example.label && *answer != *example.label;
      const std::string text = fmt::format("{}: {}", results.attack.results[t].target,
                                           !answer  ? std::string("not asked")
                                           : fooled ? fmt::format("class {}", *answer)
                                                    : fmt::format("class {}, right", *answer));
      small_text(screen, text, fooled ? screen.theme.verdict(Verdict::fault) : screen.theme.ink);
    }
    ImGui::Dummy({0.0f, em * 0.7f});
  }

  void draw_robustness(Screen& screen) const {
    const float em = ImGui::GetFontSize();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ImGui::SeparatorText("Samples that are still answered rightly after each attack");
    if (attacks_->size() >= min_radar_axes) {
      const Canvas area =
          canvas("radar", {std::min(room.x, 46.0f * em), std::min(room.y * 0.62f, 30.0f * em)});
      auto painter = screen.painter();
      paint_radar(painter, area.box, robustness_.attacks, radar_series(robustness_), screen.theme);
    }
    const int columns = static_cast<int>(std::min<std::size_t>(robustness_.attacks.size(), 40)) + 1;
    if (!ImGui::BeginTable("robustness", columns,
                           ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerH))
      return;
    ImGui::TableSetupColumn("target");
    for (int c = 1; c < columns; ++c)
      ImGui::TableSetupColumn(robustness_.attacks[static_cast<std::size_t>(c - 1)].c_str());
    ImGui::TableHeadersRow();
    for (std::size_t t = 0; t < robustness_.targets.size(); ++t) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::TextColored(im4(screen.theme.series(t)), "%s", robustness_.targets[t].c_str());
      for (int c = 1; c < columns; ++c) {
        ImGui::TableNextColumn();
        const double rate = robustness_.rates[t][static_cast<std::size_t>(c - 1)];
        right_text(std::isnan(rate) ? "–" : fmt::format("{:.1f} %", 100.0 * rate), screen.theme.ink);
      }
    }
    ImGui::EndTable();
  }

  Host* host_ = nullptr;
  std::shared_ptr<const std::vector<AttackResults>> attacks_;
  SurvivalRates robustness_;
  std::size_t chosen_ = 0;  // the one after the last is the robustness against all
  std::size_t shown_ = no_place;
  std::vector<ShownExample> examples_;  // of the chosen one
};

}  // namespace

std::unique_ptr<View> make_attack_view() { return std::make_unique<AttackScreen>(); }

}  // namespace driftscope::gui
