#include "core/gui/imgui/why_panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/error_chart.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {
namespace {

constexpr std::size_t first_hypotheses = 3;  // the others on request

std::string budgets(double used) {
  return std::isfinite(used) ? format_number(used) + " ×" : std::string("beyond any ×");
}

void wrapped(const std::string& text) {
  ImGui::PushTextWrapPos(0.0f);
  ImGui::TextUnformatted(text.c_str(), text.c_str() + text.size());
  ImGui::PopTextWrapPos();
}

void wrapped_small(const Screen& screen, const std::string& text) {
  ImGui::PushTextWrapPos(0.0f);
  small_text(screen, text, screen.theme.dim);
  ImGui::PopTextWrapPos();
}

void draw_cause(const Screen& screen, const LayerExplanation& why) {
  if (why.wrong == 0) return wrapped("No element is beyond its budget; the errors are too large as a whole.");
  if (!why.cause)
    return wrapped(fmt::format("None of the {} hypotheses tried explains it.", format_count(why.tried)));
  wrapped("Explained by " + why.cause->text);
  wrapped_small(
      screen, fmt::format("The error falls from {} to {} the budget in all {} elements. By accident: at most "
                          "{:.0e}, in {} {} tried.",
                          budgets(why.cause->budget_before), budgets(why.cause->budget_after),
                          format_count(why.cause->elements), std::fmax(why.cause->chance, 1e-300),
                          format_count(why.tried), why.tried == 1 ? "hypothesis" : "hypotheses"));
}

void draw_where(const Screen& screen, const LayerExplanation& why) {
  if (why.wrong == 0) return;
  const float em = ImGui::GetFontSize();
  ImGui::Dummy({0.0f, em * 0.15f});
  wrapped(fmt::format("{} of {} elements are wrong{}{}", format_count(why.wrong), format_count(why.elements),
                      why.pattern ? ": " : "", why.pattern ? why.pattern->text : ""));
  if (!why.map) return;
  auto measure = screen.painter();
  const ErrorChartSize size =
      error_chart_size(*why.map, ImGui::GetContentRegionAvail().x - 2.0f, measure.unit());
  const Canvas area = canvas("errors", {size.width + 2.0f, size.height + 2.0f});
  const Box box = {area.box.left + 1.0f, area.box.top + 1.0f, area.box.right - 1.0f, area.box.bottom - 1.0f};
  auto painter = screen.painter();
  const std::vector<std::int64_t> none;
  paint_error_chart(painter, box, *why.map, why.pattern ? why.pattern->tile : none, screen.theme);
  if (area.hovered) {
    const ImVec2 mouse = ImGui::GetMousePos();
    if (const auto text = error_chart_text(box, *why.map, {mouse.x, mouse.y})) tooltip(text->c_str());
  }
  wrapped_small(screen, error_chart_axes(*why.map));
}

void draw_hypothesis(const Screen& screen, const LayerExplanation& why, std::size_t rank) {
  const Hypothesis& one = why.hypotheses[rank];
  const float em = ImGui::GetFontSize();
  ImGui::BeginGroup();
  wrapped(fmt::format("{}. {}", rank + 1, one.text));
  const double share =
      why.elements > 0 ? static_cast<double>(one.explained) / static_cast<double>(why.elements) : 0.0;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  auto painter = screen.painter();
  const float thick = 3.0f * painter.unit();
  painter.fill({at.x, at.y, at.x + width, at.y + thick}, screen.theme.grid, thick / 2.0f);
  painter.fill({at.x, at.y, at.x + width * static_cast<float>(std::clamp(share, 0.0, 1.0)), at.y + thick},
               screen.theme.accent, thick / 2.0f);
  ImGui::Dummy({width, thick});
  wrapped_small(screen, fmt::format("right for {} of {} elements; largest error {} its budget",
                                    format_count(one.explained), format_count(why.elements),
                                    budgets(one.budget_after)));
  ImGui::EndGroup();
  hint(one.id.c_str());
  ImGui::Dummy({0.0f, em * 0.2f});
}

void draw_hypotheses(const Screen& screen, const LayerExplanation& why) {
  // With a cause the first one is the cause: it stands above.
  const std::size_t first = why.cause ? 1 : 0;
  const std::size_t count = why.hypotheses.size();
  if (count <= first) return;
  const float em = ImGui::GetFontSize();
  ImGui::Dummy({0.0f, em * 0.15f});
  small_text(screen, why.cause ? "Hypotheses that do not explain it" : "How far hypotheses get",
             screen.theme.dim);
  const std::size_t shown = std::min(count, first + first_hypotheses);
  for (std::size_t i = first; i < shown; ++i) draw_hypothesis(screen, why, i);
  if (shown == count || !ImGui::TreeNode("more", "%zu more", count - shown)) return;
  ImGui::Unindent();
  for (std::size_t i = shown; i < count; ++i) draw_hypothesis(screen, why, i);
  ImGui::Indent();
  ImGui::TreePop();
}

LayerTask task_of(const Screen& screen, LayerWork work, std::size_t layer, std::size_t target) {
  const TargetColumn& column = screen.snapshot->targets[target];
  const bool of_file = column.target.starts_with("file/") && !column.about.target.starts_with("file/");
  return {work, screen.snapshot->layers[layer].node, column.target, of_file ? column.about.target : ""};
}

const LayerWorkResult* result_of(const Screen& screen, const LayerTask& task) {
  if (!screen.feed.examined) return nullptr;
  for (const LayerWorkResult& one : *screen.feed.examined)
    if (one.task == task && one.model_sha256 == screen.snapshot->model_sha256) return &one;
  return nullptr;
}

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

void draw_result(const Screen& screen, const WorkButton& button, const LayerWorkResult& result) {
  const float em = ImGui::GetFontSize();
  ImGui::Dummy({0.0f, em * 0.2f});
  ImGui::PushTextWrapPos(0.0f);
  if (result.failed)
    small_text(screen, fmt::format("{}: {}", button.name, result.text), screen.theme.verdict(Verdict::fault));
  else if (result.folder.empty())
    ImGui::TextUnformatted(sentence(result.text).c_str());
  else
    small_text(screen, result.text, screen.theme.dim);
  ImGui::PopTextWrapPos();
  if (result.folder.empty()) return;
  wrapped(result.folder);
  ImGui::PushID(button.name);
  if (ImGui::SmallButton("Copy the folder's name")) ImGui::SetClipboardText(result.folder.c_str());
  ImGui::PopID();
}

void draw_commands(const Screen& screen, const LayerTask& task) {
  const std::string commands = command_lines(task, screen.snapshot->title);
  wrapped_small(screen,
                fmt::format("On the command line, with the input of this run{}{}:",
                            screen.snapshot->input_text.empty() ? "" : ", ", screen.snapshot->input_text));
  wrapped(commands);
  wrapped_small(screen, "Copied.");
}

void draw_work(Screen& screen, std::size_t layer, std::size_t target) {
  const float em = ImGui::GetFontSize();
  ImGui::Dummy({0.0f, em * 0.15f});
  LayerTask task = task_of(screen, LayerWork::causal_test, layer, target);
  int* const shown = ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("commands"), 0);
  const bool own = screen.feed.examining && screen.feed.examining->node == task.node &&
                   screen.feed.examining->target == task.target;
  ImGui::BeginDisabled(screen.feed.busy);
  int number = 0;
  for (const WorkButton& button : work_buttons()) {
    if (++number > 1) flow(button_width(button.name));
    if (ImGui::Button(button.name))
      *shown = start_work(screen, button.work, layer, target) || *shown == number ? 0 : number;
    hint(button.help);
  }
  ImGui::EndDisabled();
  if (own) {
    wrapped_small(screen, screen.feed.doing + " …");
    if (ImGui::SmallButton("Stop")) screen.host.stop();
  }
  number = 0;
  for (const WorkButton& button : work_buttons()) {
    task.work = button.work;
    if (++number == *shown) draw_commands(screen, task);
    if (const LayerWorkResult* const result = result_of(screen, task)) draw_result(screen, button, *result);
  }
}

}  // namespace

std::span<const WorkButton> work_buttons() {
  static constexpr WorkButton buttons[] = {
      {LayerWork::causal_test, "Does it matter?", "Test whether this layer matters",
       "Puts the right tensor in place of this one and runs the rest of the model on the target: is its "
       "answer "
       "right then?"},
      {LayerWork::reduce, "Reduce", "Reduce this layer",
       "The smallest part of the model that still fails in the same way, as a folder"},
      {LayerWork::repro, "Repro", "Make a report of this layer",
       "A report for the makers of the runtime, as a folder: this node, its inputs, a page that turns red"}};
  return buttons;
}

bool start_work(Screen& screen, LayerWork work, std::size_t layer, std::size_t target) {
  const LayerTask task = task_of(screen, work, layer, target);
  if (screen.host.examine(task)) return true;
  ImGui::SetClipboardText(command_lines(task, screen.snapshot->title).c_str());
  return false;
}

std::size_t why_target(const Screen& screen, std::size_t layer) {
  const Snapshot& snapshot = *screen.snapshot;
  if (is_bad(snapshot.cell(layer, screen.target()).verdict)) return screen.target();
  for (std::size_t t = 0; t < snapshot.targets.size(); ++t)
    if (is_bad(snapshot.cell(layer, t).verdict)) return t;
  return no_place;
}

void draw_why(Screen& screen, std::size_t layer, std::size_t target) {
  const Snapshot& snapshot = *screen.snapshot;
  ImGui::PushID("why");
  ImGui::PushID(static_cast<int>(layer * snapshot.targets.size() + target));
  ImGui::TextUnformatted("Why");
  ImGui::SameLine(0.0f, ImGui::GetFontSize() * 0.8f);
  target_label(screen, target);
  if (const LayerExplanation* const why = snapshot.explanation(layer, target)) {
    draw_cause(screen, *why);
    draw_where(screen, *why);
    draw_hypotheses(screen, *why);
    if (why->matters) wrapped(sentence(why->matters->answer_with_layer_right));
  } else {
    wrapped_small(screen, "No hypothesis could be tried on what was recorded.");
  }
  draw_work(screen, layer, target);
  ImGui::PopID();
  ImGui::PopID();
}

}  // namespace driftscope::gui
