#include "core/decode/generation_page.hpp"

#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/decode/generation_map.hpp"
#include "core/decode/generation_text.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/draw/verdict_map.hpp"
#include "core/report/page.hpp"
#include "core/report/section.hpp"

namespace driftscope {
namespace generation_page_parts {
namespace {

using documents::Generate;
using documents::GenerateSequence;
using documents::GenerateStep;
using documents::GenerateTarget;

constexpr std::size_t most_flips = 200;
constexpr std::size_t most_tokens = 300;
constexpr std::size_t most_text = 4000;

constexpr const char* page_style = R"css(
.tokens{overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
)css";

std::string targets_section(const Generate& results) {
  std::string html = sections::open_section("targets", "Targets") + sections::open_table("What targets did");
  html += "<tr>";
  for (const std::string& title : target_titles())
    html += fmt::format("<th scope=\"col\">{}</th>", html_text(title, 60));
  html += "</tr>";
  for (const GenerateTarget& target : results.targets) {
    const std::vector<std::string> cells = target_cells(results, target);
    html += fmt::format("<tr><th scope=\"row\">{}</th>", html_text(cells.front(), 80));
    for (std::size_t i = 1; i < cells.size(); ++i)
      html += fmt::format("<td>{}</td>", html_text(cells[i], 80));
    html += "</tr>";
  }
  html += "</table></div>";
  for (const GenerateTarget& target : results.targets)
    if (!target.error.empty())
      html += fmt::format("<p>{}: {}</p>", html_text(target.target, 80), html_text(target.error, 1000));
  return html +
         "<p class=\"soft\">Every target gets the tokens of the reference and has its own caches. First "
         "token: a run "
         "with the whole prompt; each token: one with a single token. Both are medians of runs in which "
         "nothing is "
         "recorded.</p></section>";
}

std::string flips_section(const Generate& results) {
  std::string rows;
  std::size_t count = 0;
  for (const GenerateTarget& target : results.targets)
    for (std::size_t p = 0; p < target.sequences.size(); ++p)
      for (std::size_t s = 0; s < target.sequences[p].steps.size(); ++s) {
        const GenerateStep& step = target.sequences[p].steps[s];
        if (step.flip.empty() || ++count > most_flips) continue;
        rows += fmt::format(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
            "<td>{}</td></tr>",
            html_text(target.target, 80), p, s, html_text(named_token(results, step.token), 120),
            html_text(named_token(results, step.reference_token), 120), format_number(step.margin),
            step.moved ? format_number(*step.moved) : "–",
            html_text(step.first_fault.empty() ? step.flip
                                               : fmt::format("{}, first at {}", step.flip, step.first_fault),
                      200));
      }
  std::string html = sections::open_section("tokens", "Other tokens than the reference's");
  if (count == 0) return html + "<p>None.</p></section>";
  html += sections::open_table("Tokens that differ") +
          "<tr><th scope=\"col\">target</th><th scope=\"col\">prompt</th><th scope=\"col\">step</th>"
          "<th scope=\"col\">token</th><th scope=\"col\">reference</th><th scope=\"col\">lead there</th>"
          "<th scope=\"col\">moved by</th><th scope=\"col\">why</th></tr>" +
          rows + "</table></div>";
  if (count > most_flips)
    html += fmt::format("<p>The first {} of {}; all are in the JSON.</p>", most_flips, count);
  return html +
         "<p class=\"soft\">Rounding: every layer of this and of the earlier steps is identical or rounding, "
         "given "
         "what it read. Fault: one is not.</p></section>";
}

std::string maps_section(const Generate& results) {
  std::string html = sections::open_section("layers", "Steps by layer");
  for (const GenerateTarget& target : results.targets) {
    if (target.layers.empty()) continue;
    const GenerationMap made = generation_map(results, target, {});
    const VerdictMap& map = made.map;
    const MapSize size = verdict_map_size(map);
    const std::string title = fmt::format("{}: {} layers in {} steps, {} beyond rounding", target.target,
                                          target.layers.size(), map.columns.size(), bad_layers(target));
    SvgPainter painter({size.width, size.height,
                        fmt::format("role=\"img\" width=\"{}\" height=\"{}\" aria-label=\"{}\"", size.width,
                                    size.height, html_text(title, 300))});
    paint_verdict_map(painter, map, light_theme());
    html += fmt::format(
        "<figure><figcaption><b>{}</b>{}</figcaption><div class=\"scroll plain\" tabindex=\"0\" "
        "role=\"group\" "
        "aria-label=\"{}\">{}</div></figure>",
        html_text(title, 300), made.left_out > 0 ? fmt::format(" The first {} layers.", map.rows.size()) : "",
        html_text(title, 300), painter.finish());
  }
  return html + "</section>";
}

std::string sequences_section(const Generate& results) {
  std::string html =
      sections::open_section("sequences", "Tokens") + sections::open_table("Tokens") +
      "<tr><th scope=\"col\">prompt</th><th scope=\"col\">target</th><th scope=\"col\">tokens</th></tr>";
  const std::size_t prompts = results.targets.empty() ? 0 : results.targets.front().sequences.size();
  for (std::size_t p = 0; p < prompts; ++p)
    for (const GenerateTarget& target : results.targets) {
      if (p >= target.sequences.size()) continue;
      std::vector<std::int64_t> tokens = tokens_of(target.sequences[p]);
      const bool cut = tokens.size() > most_tokens;
      if (cut) tokens.resize(most_tokens);
      const GenerateSequence& sequence = target.sequences[p];
      const std::string texts =
          results.tokenizer.empty()
              ? std::string()
              : fmt::format("<p class=\"soft\">{}</p><p>{}</p>", html_text(sequence.prompt_text, most_text),
                            html_text(sequence.text, most_text));
      html +=
          fmt::format("<tr><td>{}</td><th scope=\"row\">{}</th><td class=\"text tokens\">{}{}{}</td></tr>", p,
                      html_text(target.target, 80), texts, fmt::join(tokens, " "), cut ? " …" : "");
    }
  return html + "</table></div></section>";
}

}  // namespace
}  // namespace generation_page_parts

std::string generation_page(const documents::Generate& results) {
  using namespace generation_page_parts;
  const std::string title = fmt::format("{}, decoding", results.model);
  return page_html(
      title, page_style,
      fmt::format("<header><h1>{}</h1><p class=\"soft\">Tokens of {}, up to {} steps. SHA-256 {}</p>"
                  "</header>",
                  html_text(title, 300), html_text(results.reference, 80), results.steps,
                  html_text(results.model_sha256, 64)) +
          targets_section(results) + flips_section(results) + maps_section(results) +
          sequences_section(results));
}

}  // namespace driftscope
