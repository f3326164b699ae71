// Why layers are wrong: the cause, or which elements and how far hypotheses get.
#include <fmt/format.h>

#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/error_chart.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/report/section.hpp"

namespace driftscope::sections::why {
namespace {

constexpr std::size_t max_layers = 12;

std::string hypotheses_table(const LayerExplanation& explanation) {
  if (explanation.cause || explanation.hypotheses.empty()) return "";
  std::string html = open_table("How far hypotheses get") +
                     "<tr><th scope=\"col\">hypothesis</th><th scope=\"col\">right elements</th><th "
                     "scope=\"col\">largest error ÷ budget</th></tr>";
  for (const Hypothesis& one : explanation.hypotheses)
    html += fmt::format(
        "<tr><th scope=\"row\">{} <span class=\"soft\">{}</span></th><td>{} of {}</td><td>{}</td></tr>",
        html_text(one.text, 200), html_text(one.id, 80), format_count(one.explained),
        format_count(explanation.elements),
        std::isfinite(one.budget_after) ? format_number(one.budget_after) : "∞");
  return html + "</table></div>";
}

std::string error_figure(const LayerExplanation& explanation) {
  if (!explanation.map) return "";
  constexpr float most_wide = 480.0f;
  const ErrorChartSize size = error_chart_size(*explanation.map, most_wide);
  const std::string title =
      fmt::format("errors of {}: {}", explanation.node,
                  explanation.pattern ? explanation.pattern->text : "no pattern is known");
  SvgPainter painter({size.width + 2.0f, size.height + 2.0f,
                      fmt::format("role=\"img\" width=\"{0}\" height=\"{1}\" aria-label=\"{2}\"",
                                  size.width + 2.0f, size.height + 2.0f, html_text(title, 300))});
  paint_error_chart(painter, {1.0f, 1.0f, size.width + 1.0f, size.height + 1.0f}, *explanation.map,
                    explanation.pattern ? explanation.pattern->tile : std::vector<std::int64_t>(),
                    light_theme());
  return fmt::format(
      "<figure><figcaption>{}. The stronger the colour, the larger the error; blocks of the pattern are "
      "outlined.</figcaption>{}</figure>",
      html_text(error_chart_axes(*explanation.map), 200), painter.finish());
}

std::string layer_text(const LayerExplanation& explanation, const std::string& target) {
  std::string html = fmt::format(
      "<article class=\"layer\"><h3>{} <span class=\"soft\">{}</span> <span class=\"v-{}\">{}</span> <span "
      "class=\"soft\">on {}</span></h3><p>{}</p>",
      html_text(explanation.node, 60), html_text(explanation.op, 40), verdict_name(explanation.verdict),
      verdict_name(explanation.verdict), html_text(target, 60),
      html_text(explanation_text(explanation), max_reason));
  if (explanation.cause) {
    html += fmt::format(
        "<p class=\"soft\">{} of {} elements were wrong{}{}. By accident: at most {:.0e}.</p>",
        format_count(explanation.wrong), format_count(explanation.elements), explanation.pattern ? ": " : "",
        explanation.pattern ? html_text(explanation.pattern->text, 400) : "",
        std::fmax(explanation.cause->chance, 1e-300));
  }
  if (explanation.matters)
    html += "<p>" + html_text(explanation.matters->answer_with_layer_right, max_reason) + "</p>";
  return html + error_figure(explanation) + hypotheses_table(explanation) + "</article>";
}

std::string write(const SectionContext& context) {
  std::string html;
  std::size_t shown = 0;
  std::size_t all = 0;
  for (const TargetResult* const target : first_targets(context.view)) {
    if (!target->verification) continue;
    for (const LayerVerdict& layer : target->verification->layers) {
      if (!layer.explanation) continue;
      ++all;
      if (shown == max_layers || html.size() > context.max_bytes / 2) continue;
      ++shown;
      html += layer_text(*layer.explanation, target->target);
    }
  }
  if (all == 0) return "";
  if (all > shown)
    context.left_out.push_back(fmt::format("explanations of {} of {} layers.", all - shown, all));
  return open_section("why", "Why layers are wrong") + html + "</section>";
}

}  // namespace

void add_to(SectionTable& table) { table.add({32, write}); }

}  // namespace driftscope::sections::why
