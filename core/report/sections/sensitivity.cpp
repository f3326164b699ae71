// Where the error that matters comes from: each layer's share in how far rounding can move the answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/format.hpp"
#include "core/draw/bar_chart.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/report/section.hpp"
#include "core/results/answer_move_text.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope::sections::sensitivity {
namespace {

constexpr std::size_t shown_layers = 12;
constexpr std::size_t readable_name = 34;

bool has_prediction(const TargetResult& target) {
  return target.verification && target.verification->answer && !target.verification->answer->answer.empty();
}

std::string moves_table(const std::vector<const TargetResult*>& targets) {
  std::string html =
      open_table("How far rounding was predicted to move the answer, and did") +
      "<tr><th scope=\"col\">target</th><th scope=\"col\">predicted at most</th><th scope=\"col\">predicted "
      "likely</th><th scope=\"col\">moved</th><th scope=\"col\">explained by the layers' own "
      "errors</th></tr>";
  for (const TargetResult* target : targets) {
    if (!has_prediction(*target)) continue;
    const AnswerMove& move = *target->verification->answer;
    const std::string seen =
        !move.left_out.empty() ? html_text(move.left_out, max_reason)
        : std::isnan(move.seen)
            ? std::string("not recorded")
            : move_text(move.seen) + (std::fabs(move.seen) > move.worst ? ", more than estimated" : "");
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                        html_text(target->target, 80), format_number(move.worst), format_number(move.likely),
                        seen, move_text(move.explained));
  }
  return html + "</table></div>";
}

std::string bars_of(const Verification& verification) {
  const std::vector<const LayerVerdict*> layers = most_sensitive(verification, shown_layers);
  if (layers.empty()) return "";
  std::vector<std::string> names;
  for (const LayerVerdict* layer : layers) names.push_back(layer->node);
  names = fitting_names(names, readable_name);
  std::vector<Bar> bars;
  std::string spoken;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerVerdict& layer = *layers[i];
    const std::string name = elide_start(plain_text(names[i], 200), readable_name);
    bars.push_back({.label = fmt::format("{} ({})", name, plain_text(layer.op, 20)),
                    .text = fmt::format("{} · likely {}", share_text(layer.sensitivity),
                                        format_number(layer.likely_move)),
                    .value = layer.sensitivity});
    spoken += fmt::format(" {}: {}.", name, share_text(layer.sensitivity));
  }
  constexpr float width = 1000.0f;
  const float height = bar_chart_height(bars.size());
  SvgPainter painter({width, height,
                      fmt::format("class=\"chart\" role=\"img\" aria-label=\"{}\"",
                                  html_escape("Share of each layer." + spoken))});
  paint_bars(painter, {0.0f, 0.0f, width, height}, bars, false, light_theme());
  const auto all = std::ranges::count_if(verification.layers,
                                         [](const LayerVerdict& layer) { return layer.sensitivity > 0.0; });
  const std::string rest = static_cast<std::size_t>(all) > layers.size()
                               ? fmt::format(" The {} most sensitive of {} layers.", layers.size(), all)
                               : std::string();
  return fmt::format(
      "<figure><figcaption><b>Share of each layer</b> in the square of the likely movement: gradient of the "
      "answer times rounding budget, element by element.{}</figcaption><div class=\"scroll plain\" "
      "tabindex=\"0\" role=\"group\" aria-label=\"Share of each layer\">{}</div></figure>",
      rest, painter.finish());
}

std::string write(const SectionContext& context) {
  const std::vector<const TargetResult*> targets = first_targets(context.view);
  const auto first =
      std::ranges::find_if(targets, [](const TargetResult* one) { return has_prediction(*one); });
  const std::string title = "Where the error that matters comes from";
  if (first == targets.end()) {
    for (const TargetResult* target : targets)
      if (target->verification && target->verification->answer)
        return open_section("sensitivity", title) + "<p class=\"soft\">" +
               html_text(answer_move_text(*target->verification->answer), max_reason) + "</p></section>";
    return "";
  }
  const AnswerMove& move = *(*first)->verification->answer;
  return open_section("sensitivity", title) +
         fmt::format(
             "<p class=\"soft\">The answer is {}, {} without rounding. These are first-order "
             "estimates, made before the targets ran, and no verdict.</p>",
             html_text(move.answer, 200), format_number(move.exact)) +
         moves_table(targets) + bars_of(*(*first)->verification) + "</section>";
}

}  // namespace

void add_to(SectionTable& table) { table.add({25, write}); }

}  // namespace driftscope::sections::sensitivity
