#include "core/report/attack_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/bmp.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/report/attack_charts.hpp"
#include "core/report/page.hpp"
#include "core/report/section.hpp"
#include "core/statistics/rate.hpp"

namespace driftscope {
namespace {

constexpr float page_width = 1000.0f;
constexpr std::size_t page_examples = 12;  // of each attack

constexpr const char* attack_style = R"css(
.examples{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(330px,100%),1fr));gap:16px 18px;
margin-top:10px}
.example{margin:0;border:1px solid var(--line);border-radius:6px;padding:10px 12px;background:var(--raised)}
.example .maps{flex-wrap:nowrap;gap:8px}.example .map{margin:0;text-align:center}
.example .map img{width:96px;height:96px;object-fit:contain;background:#000}
.example .map span{display:block;font-size:11.5px;color:var(--dim);margin-top:3px}
.example figcaption b{overflow-wrap:anywhere}
.example ul{list-style:none;padding:0;margin:8px 0 0;font-size:12.5px}.example li{margin:1px 0}
.radar{max-width:560px;min-width:0}.fooled{color:var(--fault);font-weight:600}
@media(max-width:560px){.example .map img{width:84px;height:84px}}
)css";

std::string bars_figure(const std::string& title, const std::string& caption, const std::vector<Bar>& bars) {
  if (bars.empty()) return "";
  const float height = bar_chart_height(bars.size());
  std::string spoken;
  for (const Bar& bar : bars) spoken += fmt::format(" {}: {}.", bar.label, bar.text);
  SvgPainter painter(
      {page_width, height,
       fmt::format("class=\"chart\" role=\"img\" aria-label=\"{}\"", html_text(title + "." + spoken))});
  paint_bars(painter, {0.0f, 0.0f, page_width, height}, bars, false, light_theme(), 100.0);
  return fmt::format(
      "<figure><figcaption><b>{0}</b> {1}</figcaption><div class=\"scroll plain\" tabindex=\"0\" "
      "role=\"group\" "
      "aria-label=\"{0}\">{2}</div></figure>",
      html_text(title, 300), html_text(caption, 1000), painter.finish());
}

std::string success_section(const std::vector<AttackResults>& all, const SurvivalRates& robustness) {
  std::string html = sections::open_section("success", "Success by target");
  for (const AttackResults& one : all) {
    html += bars_figure(attack_name(one.attack),
                        "Samples that the target answers rightly before and wrongly afterwards, with 95 % "
                        "intervals (Wilson).",
                        success_bars(one, robustness));
    html += sections::open_table("What the attack took") +
            "<tr><th scope=\"col\">target</th><th scope=\"col\">mean L∞</th><th scope=\"col\">mean L2</th>"
            "<th scope=\"col\">mean changed</th><th scope=\"col\">queries</th></tr>";
    for (const documents::AttackResult& result : one.attack.results)
      html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                          html_text(result.target, 80), format_number(result.mean_linf),
                          format_number(result.mean_l2), format_number(result.mean_changed), result.queries);
    html += "</table></div>";
  }
  return html + "</section>";
}

std::string robustness_section(const SurvivalRates& robustness) {
  if (robustness.attacks.size() < 2) return "";
  std::string html = sections::open_section("robustness", "Robustness: targets against attacks");
  if (robustness.attacks.size() >= min_radar_axes) {
    std::string legend = "<div class=\"legend\">";
    for (std::size_t t = 0; t < robustness.targets.size(); ++t) {
      SvgPainter key({26.0f, 12.0f, "width=\"26\" height=\"12\" aria-hidden=\"true\""});
      key.line({0.0f, 6.0f}, {26.0f, 6.0f}, light_theme().series(t), 2.0f);
      key.disc({13.0f, 6.0f}, 3.5f, light_theme().series(t));
      legend += "<span>" + key.finish() + html_text(robustness.targets[t], 80) + "</span>";
    }
    constexpr float width = 560.0f;
    constexpr float height = 360.0f;
    SvgPainter painter({width, height,
                        "class=\"chart radar\" role=\"img\" aria-label=\"Robustness; the table below "
                        "has the numbers\""});
    paint_radar(painter, {0.0f, 0.0f, width, height}, robustness.attacks, radar_series(robustness),
                light_theme());
    html +=
        "<figure><figcaption><b>Samples that are still answered rightly</b> after each attack: the further "
        "out, the more robust.</figcaption>" +
        painter.finish() + legend + "</div></figure>";
  }
  html += sections::open_table("Robustness of each target against each attack") +
          "<tr><th scope=\"col\">target</th>";
  for (const std::string& attack : robustness.attacks)
    html += "<th scope=\"col\">" + html_text(attack, 80) + "</th>";
  html += "</tr>";
  for (std::size_t t = 0; t < robustness.targets.size(); ++t) {
    html += "<tr><th scope=\"row\">" + html_text(robustness.targets[t], 80) + "</th>";
    for (const double rate : robustness.rates[t])
      html += std::isnan(rate) ? "<td>–</td>" : fmt::format("<td>{:.1f} %</td>", 100.0 * rate);
    html += "</tr>";
  }
  return html + "</table></div></section>";
}

std::string transfer_section(const std::vector<AttackResults>& all, const SurvivalRates& robustness) {
  std::string figures;
  for (const AttackResults& one : all) {
    figures += bars_figure(attack_name(one.attack), "Adversarials of one target that fool the other as well.",
                           transfer_bars(one, robustness));
  }
  if (figures.empty()) return "";
  return sections::open_section("transfer", "Transfer between targets") + figures + "</section>";
}

std::string picture_cell(const Image& image, const std::string& what, const std::string& caption) {
  return fmt::format("<div class=\"map\"><img alt=\"{}\" src=\"{}\"><span>{}</span></div>",
                     html_text(what, 200), bmp_data_uri(image), html_text(caption, 100));
}

std::string example_html(const AttackResults& results, const AttackExample& example) {
  const documents::Attack& attack = results.attack;
  std::string html =
      fmt::format("<figure class=\"example\"><figcaption><b>Sample {}</b>{}, attacked on {}</figcaption>",
                  example.number, example.label ? fmt::format(", class {}", *example.label) : "",
                  html_text(attacked_text(results, example), 200));
  const AdversarialPictures pictures = pictures_of(results, example);
  if (!pictures.original.pixels.empty()) {
    html += "<div class=\"maps\">" + picture_cell(pictures.original, "the original", "original") +
            picture_cell(pictures.changed, "the adversarial", "adversarial") +
            picture_cell(pictures.difference, "the difference, enlarged",
                         fmt::format("difference × {}", format_number(pictures.enlarged))) +
            "</div>";
  } else if (attack.words) {
    html += "<p class=\"soft\">" + html_text(changes_text(example), 2000) + "</p>";
  }
  std::string answers;
  for (std::size_t t = 0; t < example.answers.size(); ++t) {
    const auto& answer = example.answers[t];
    const bool fooled = answer && example.label && *answer != *example.label;
    answers += fmt::format("<li>{}: {}</li>", html_text(attack.results[t].target, 80),
                           !answer  ? std::string("not asked")
                           : fooled ? fmt::format("<span class=\"fooled\">class {}</span>", *answer)
                                    : fmt::format("class {}, right", *answer));
  }
  return html + "<ul>" + answers + "</ul></figure>";
}

std::string examples_section(const std::vector<AttackResults>& all) {
  std::string html;
  for (const AttackResults& one : all) {
    const std::vector<AttackExample> examples = one.examples(page_examples);
    if (examples.empty()) continue;
    html += fmt::format("<h3>{}</h3><div class=\"examples\">", html_text(attack_name(one.attack), 200));
    for (const AttackExample& example : examples) html += example_html(one, example);
    html += "</div>";
  }
  if (html.empty()) return "";
  return sections::open_section("examples", "Adversarial examples") +
         "<p class=\"soft\">Those on which targets answer differently come first. Grey in a difference: "
         "nothing "
         "changed there.</p>" +
         html + "</section>";
}

std::string heading(const std::vector<AttackResults>& all) {
  const documents::Attack& first = all.front().attack;
  const std::string model = attacked_model(first);
  std::string names;
  for (const AttackResults& one : all) names += (names.empty() ? "" : "; ") + attack_name(one.attack);
  std::string html = "<header><h1>" + html_text(model, 200) + " under attack</h1><p class=\"headline\">" +
                     html_text(names, 1000) + "</p><p class=\"soft\">";
  html += first.dataset.empty() ? "" : html_text(without_folders(first.dataset), 300) + " · ";
  html +=
      fmt::format("{} samples, which all targets answer rightly before · seed {}", first.samples, first.seed);
  if (!first.gradient.empty()) html += " · gradient on " + html_text(first.gradient, 80);
  if (first.in_8_bits) html += " · rounded to 8 bits";
  html += "</p>";
  for (const AttackResults& one : all)
    if (one.attack.model_sha256 != first.model_sha256)
      html += "<p class=\"error\">" + html_text(attack_name(one.attack), 200) + ": of another model</p>";
  if (first.samples < enough_for_a_rate)
    html += "<p class=\"error\">Fewer than 100 samples: rates mean little.</p>";
  return html + "</header>";
}

}  // namespace

std::string attack_page(const std::vector<AttackResults>& all) {
  const SurvivalRates robustness = survival_rates(all);
  return page_html("Attacks: " + attacked_model(all.front().attack), attack_style,
                   heading(all) + success_section(all, robustness) + robustness_section(robustness) +
                       transfer_section(all, robustness) + examples_section(all));
}

}  // namespace driftscope
