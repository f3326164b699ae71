// Generation: the steps and layers of a language model on each target as a map, its tokens along the steps,
// where they are not the reference's and why.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/decode/generation_map.hpp"
#include "core/decode/generation_text.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {
namespace {

using documents::Generate;
using documents::GenerateSequence;
using documents::GenerateStep;
using documents::GenerateTarget;

class GenerationScreen final : public View {
 public:
  int place() const override { return 97; }
  bool needs_snapshot() const override { return false; }

  void draw(Screen& screen) override {
    update(screen);
    if (!results_)
      return empty_state(
          screen, "No generation is open.",
          "driftscope generate MODEL --prompt … --targets … --json FILE keeps one: drop the file\n"
          "here, or driftscope gui FILE opens it.");
    ImGui::PushTextWrapPos(0.0f);
    ImGui::TextUnformatted(fmt::format("{}, decoding", results_->model).c_str());
    small_text(
        screen,
        fmt::format(
            "Every target gets the tokens of {}, so that each step and each layer is judged by itself.",
            results_->reference),
        screen.theme.dim);
    ImGui::PopTextWrapPos();
    const std::size_t before = chosen_;
    parts_list(screen, names_, names_.size(), chosen_);
    if (chosen_ != before) remake();
    if (ImGui::BeginChild("target", {0.0f, 0.0f}, 0,
                          ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse))
      draw_target(screen);
    ImGui::EndChild();
  }

  Table table(const Screen&) const override {
    if (!results_) return {};
    Table table = {{"target", "prompt", "step", "token", "reference", "lead", "moved by", "memory", "verdict",
                    "token differs by", "first fault"}};
    for (const GenerateTarget& target : results_->targets)
      for (std::size_t p = 0; p < target.sequences.size(); ++p)
        for (std::size_t s = 0; s < target.sequences[p].steps.size(); ++s) {
          const GenerateStep& step = target.sequences[p].steps[s];
          table.push_back({target.target, std::to_string(p), std::to_string(s),
                           named_token(*results_, step.token), named_token(*results_, step.reference_token),
                           fmt::format("{}", step.margin), step.moved ? fmt::format("{}", *step.moved) : "",
                           step.peak_bytes ? std::to_string(*step.peak_bytes) : "", step.verdict, step.flip,
                           step.first_fault});
        }
    return table;
  }

  SavedPicture picture(const Screen& screen) const override {
    if (!results_ || made_.map.columns.empty()) return {};
    const MapSize size = verdict_map_size(made_.map);
    SvgPainter painter(size.width, size.height, screen.theme.panel);
    paint_verdict_map(painter, made_.map, screen.theme);
    return {painter.finish(), {}};
  }

 private:
  void update(const Screen& screen) {
    if (results_ == screen.feed.generation) return;
    results_ = screen.feed.generation;
    names_.clear();
    if (!results_) return;
    for (const GenerateTarget& target : results_->targets) names_.push_back(target.target);
    // The reference comes first; what is looked at is another one: the first that is wrong, else the first.
    chosen_ = names_.size() > 1 ? 1 : 0;
    for (std::size_t i = names_.size(); i-- > 1;)
      if (bad_layers(results_->targets[i]) > 0) chosen_ = i;
    only_bad_ = false;
    remake();
  }

  void remake() {
    const GenerateTarget& target = results_->targets[chosen_];
    bad_ = bad_layers(target);
    to_fault_ = bad_ > 0;
    made_ = generation_map(*results_, target,
                           {.most_rows = 2000, .only_bad = only_bad_ && bad_ > 0, .words = words_});
  }

  void draw_target(Screen& screen) {
    const GenerateTarget& target = results_->targets[chosen_];
    draw_facts(screen, target);
    if (!target.error.empty()) {
      ImGui::PushTextWrapPos(0.0f);
      small_text(screen, target.error, screen.theme.verdict(Verdict::fault));
      ImGui::PopTextWrapPos();
    }
    if (made_.columns.empty()) return;
    draw_choices(screen);
    const float em = ImGui::GetFontSize();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float lines = std::min(room.y * 0.34f, em * 11.0f);
    draw_map(screen, target, {room.x, std::max(em * 9.0f, room.y - lines - em * 0.5f)});
    if (ImGui::BeginChild("tokens")) draw_tokens(screen, target);
    ImGui::EndChild();
  }

  void draw_facts(const Screen& screen, const GenerateTarget& target) const {
    const std::vector<std::string> titles = target_titles();
    const std::vector<std::string> cells = target_cells(*results_, target);
    const float em = ImGui::GetFontSize();
    Verdict worst = Verdict::missing;
    for (const GenerateSequence& sequence : target.sequences)
      for (const GenerateStep& step : sequence.steps)
        worst = worse_of(worst, verdict_named(step.verdict).value_or(Verdict::missing));
    verdict_label(screen, worst);
    // Behind target and verdict.
    for (std::size_t i = 2; i < cells.size() && i < titles.size(); ++i) {
      if (cells[i] == "–") continue;
      const std::string fact = fmt::format("{} {}", titles[i], cells[i]);
      flow(ImGui::CalcTextSize(fact.c_str()).x, em);
      ImGui::TextColored(im4(screen.theme.dim), "%s", titles[i].c_str());
      ImGui::SameLine(0.0f, em * 0.35f);
      ImGui::TextUnformatted(cells[i].c_str());
    }
  }

  void draw_choices(const Screen& screen) {
    bool changed = ImGui::Checkbox("Tokens above the steps", &words_);
    if (bad_ > 0) {
      flow(checkbox_width("Only layers beyond rounding"));
      changed = ImGui::Checkbox("Only layers beyond rounding", &only_bad_) || changed;
    }
    if (changed) remake();
    if (made_.left_out == 0) return;
    flow(10.0f * ImGui::GetFontSize());
    small_text(screen, fmt::format("the first {} layers", made_.layers.size()), screen.theme.dim);
  }

  void draw_map(Screen& screen, const GenerateTarget& target, ImVec2 room) {
    auto measure = screen.painter();
    const MapSize size = verdict_map_size(made_.map, measure.unit());
    if (to_fault_) show_fault(measure.unit());
    ImGui::BeginChild("map", room, 0, ImGuiWindowFlags_HorizontalScrollbar);
    const ImVec2 low = ImGui::GetWindowPos();
    const ImVec2 inner = ImGui::GetContentRegionAvail();
    const VerdictMapPart part = {{low.x, low.y, low.x + inner.x, low.y + inner.y},
                                 {ImGui::GetScrollX(), ImGui::GetScrollY()}};
    auto painter = screen.painter();
    paint_verdict_map(painter, made_.map, screen.theme, part);
    ImGui::Dummy({size.width, size.height});
    if (ImGui::IsWindowHovered()) {
      const ImVec2 mouse = ImGui::GetMousePos();
      draw_tooltip(screen, target, verdict_map_place(made_.map, part, {mouse.x, mouse.y}, painter.unit()));
    }
    ImGui::EndChild();
  }

  /// The first layer that is wrong comes into sight, below some that are right.
  void show_fault(float unit) {
    to_fault_ = false;
    const auto& columns = made_.map.columns;
    for (std::size_t column = 0; column < columns.size(); ++column)
      for (std::size_t row = 0; row < columns[column].size(); ++row)
        if (is_bad(columns[column][row])) {
          const Point at = verdict_map_scroll(made_.map, column, row, unit);
          return ImGui::SetNextWindowScroll({at.x, at.y});
        }
  }

  void draw_tooltip(const Screen& screen, const GenerateTarget& target, VerdictMapPlace place) const {
    if (!place.column && !place.row) return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 26.0f);
    if (place.row) {
      ImGui::TextUnformatted(target.layers[made_.layers[*place.row]].c_str());
      if (place.column) verdict_label(screen, made_.map.columns[*place.column][*place.row]);
    }
    if (place.column)
      small_text(screen, step_text(*results_, target, made_.columns[*place.column]), screen.theme.dim);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }

  void draw_tokens(const Screen& screen, const GenerateTarget& target) const {
    constexpr std::size_t most_flips = 200;
    std::size_t shown = 0;
    ImGui::PushTextWrapPos(0.0f);
    for (std::size_t p = 0; p < target.sequences.size(); ++p) {
      const GenerateSequence& sequence = target.sequences[p];
      const std::vector<std::int64_t> tokens = tokens_of(sequence);
      ImGui::TextColored(im4(screen.theme.dim), "prompt %zu", p);
      ImGui::SameLine();
      ImGui::TextUnformatted(results_->tokenizer.empty()
                                 ? fmt::format("{}", fmt::join(sequence.prompt, " ")).c_str()
                                 : sequence.prompt_text.c_str());
      ImGui::TextColored(im4(screen.theme.dim), "%s", sequence.free.empty() ? "chosen" : "free");
      ImGui::SameLine();
      ImGui::TextUnformatted(results_->tokenizer.empty() ? fmt::format("{}", fmt::join(tokens, " ")).c_str()
                                                         : sequence.text.c_str());
      if (!sequence.cache_fault.empty())
        small_text(screen, "the first cache beyond rounding: " + sequence.cache_fault,
                   screen.theme.verdict(Verdict::fault));
      for (std::size_t s = 0; s < sequence.steps.size(); ++s) {
        const GenerateStep& step = sequence.steps[s];
        if (step.flip.empty() || ++shown > most_flips) continue;
        verdict_label(screen, verdict_named(step.flip).value_or(Verdict::unjudged), false);
        ImGui::SameLine(0.0f, ImGui::GetFontSize() * 0.4f);
        ImGui::TextUnformatted(fmt::format("step {}: {} instead of {}: {}{}", s,
                                           named_token(*results_, step.token),
                                           named_token(*results_, step.reference_token), step.flip,
                                           step.first_fault.empty() ? "" : ", first at " + step.first_fault)
                                   .c_str());
      }
    }
    ImGui::PopTextWrapPos();
  }

  std::shared_ptr<const Generate> results_;
  std::vector<std::string> names_;  // of the targets
  std::size_t chosen_ = 0;
  GenerationMap made_;  // of the chosen target
  std::size_t bad_ = 0;
  bool words_ = true;
  bool only_bad_ = false;
  bool to_fault_ = false;
};

}  // namespace

std::unique_ptr<View> make_generation_view() { return std::make_unique<GenerationScreen>(); }

}  // namespace driftscope::gui
