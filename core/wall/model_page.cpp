// A model's page of a wall: each target with its history.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/format.hpp"
#include "core/report/section.hpp"
#include "core/wall/parts.hpp"

namespace driftscope::wall {
namespace {

constexpr std::size_t most_runs = 200;    // of one target's table
constexpr std::size_t page_steps = 60;    // symbols above it
constexpr std::size_t most_fact = 60;     // columns of a version, a device
constexpr std::size_t all_targets = 300;  // of a page

constexpr const char* model_rules = R"css(
main{max-width:none}
h2{scroll-margin-top:8px}h2:target{color:var(--accent)}
.history td{vertical-align:top}
.history td.why{white-space:normal;text-align:left;min-width:150px;max-width:420px;overflow-wrap:anywhere}
.history td.change{min-width:300px}.history th[scope=row]{vertical-align:top}
.changed>*,.changed>:first-child{background:color-mix(in srgb,var(--accent) 9%,var(--panel))}
)css";

std::string or_dash(const std::string& html) { return html.empty() ? "–" : html; }

/// "2026-11-30 03:08"
std::string minute_of(const Run& run) {
  constexpr std::size_t length = 16;
  std::string text = or_dash(run.date).substr(0, length);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

std::string time_html(const RunTime& time) {
  if (!(time.ns > 0.0)) return "–";
  return fmt::format("{}<br><span class=\"soft\">{}</span>",
                     html_text(format_ns(std::llround(std::min(time.ns, 1e18)))),
                     html_text(time_kind_name(time.kind)));
}

/// The first bad layer; without one the first difference from the left target, which is no fault.
std::string layer_html(const Run& run) {
  if (run.state == State::failed) return html_text(run.error, most_reason);
  if (run.bad)
    return fmt::format("<code>{}</code> <span class=\"soft\">{}</span>", html_text(run.bad->node, most_name),
                       html_text(run.bad->op, most_name));
  if (run.first_divergence.empty()) return "–";
  return fmt::format("<span class=\"soft\">bits differ from {}</span>",
                     html_text(run.first_divergence, most_name));
}

std::string difference_html(const Run& run) {
  if (!run.bad) return "–";
  return fmt::format("{}<br><span class=\"soft\">{} × budget</span>",
                     html_text(format_number(run.bad->max_abs)),
                     html_text(format_number(run.bad->budget_used)));
}

std::string changed_html(const Run* before, const Run& run) {
  std::string html;
  if (before == nullptr) return "–";
  const auto add = [&](const std::string& text) { html += (html.empty() ? "" : "<br>") + text; };
  if (const int better = improvement(*before, run); better != 0)
    add(fmt::format("<span class=\"{0}\">{0}</span> than {1}", better < 0 ? "worse" : "better",
                    row_of(before->state).text));
  for (const Difference& one : differences(*before, run))
    add(fmt::format("{} <span class=\"soft\">{} →</span> {}", one.what, html_text(one.from, most_fact),
                    html_text(one.to, most_fact)));
  return or_dash(html);
}

std::string run_row(const std::vector<Run>& runs, std::size_t place) {
  const Run& run = runs[place];
  const auto earlier = run_before(runs, place);
  const Run* const before = earlier ? &runs[*earlier] : nullptr;
  const bool changed = before != nullptr && severity(run.state) >= 0 && improvement(*before, run) != 0;
  const std::string device = run.device.empty() ? run.processor : run.device;
  std::string html = fmt::format("<tr{}><th scope=\"row\">{}{}</th><td class=\"text\">{}</td>",
                                 changed ? " class=\"changed\"" : "", html_text(minute_of(run)),
                                 run.date_of_file ? " <span class=\"soft\">(of the file)</span>" : "",
                                 state_html(run.state));
  const auto text = [&](const std::string& cell) {
    html += fmt::format("<td class=\"text\">{}</td>", or_dash(cell));
  };
  const bool other = run.same_answer && !*run.same_answer;
  html += fmt::format("<td class=\"why\">{}{}</td>", or_dash(layer_html(run)),
                      other ? "<br><b>another answer</b>" : "");
  html += fmt::format("<td>{}</td><td class=\"why change\">{}</td>", difference_html(run),
                      changed_html(before, run));
  text(html_text(run.browser, most_fact));
  text(html_text(run.runtime.empty() ? run.build : run.runtime, most_fact));
  text(html_text(run.system, most_fact));
  text(html_text(device, most_fact));
  html += fmt::format("<td>{}</td><td>{}</td>", time_html(run.time), html_text(format_bytes(run.peak_bytes)));
  text("<span class=\"soft\">" + html_text(run.file, most_name) + "</span>");
  return html + "</tr>";
}

std::string history_table(const Series& series) {
  struct Head {
    const char* title;
    bool text;
  };
  constexpr std::array<Head, 12> heads = {{{"date", false},
                                           {"verdict", true},
                                           {"first bad layer", true},
                                           {"difference", false},
                                           {"changed since the run before", true},
                                           {"browser", true},
                                           {"runtime or build", true},
                                           {"system", true},
                                           {"GPU or processor", true},
                                           {"time", false},
                                           {"memory", false},
                                           {"file", true}}};
  std::string html =
      sections::open_table("History of " + html_text(series.target, most_name), "history") + "<thead><tr>";
  for (const Head& head : heads)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", head.text ? " class=\"text\"" : "", head.title);
  html += "</tr></thead><tbody>";
  const std::size_t shown = std::min(most_runs, series.runs.size());
  for (std::size_t i = 0; i < shown; ++i) html += run_row(series.runs, series.runs.size() - 1 - i);
  html += "</tbody></table></div>";
  if (shown < series.runs.size())
    html += fmt::format("<p class=\"soft\">{} earlier runs are left out.</p>", series.runs.size() - shown);
  return html;
}

std::string series_section(const Series& series) {
  const Run& run = series.newest();
  const std::string place = place_html(series.system, series.device, most_name);
  std::string html = sections::open_section(series.anchor, html_text(series.target, most_name)) +
                     fmt::format("<p class=\"headline\">{}", state_html(run.state));
  if (const auto since = since_when(series.runs)) html += " " + html_text(since->text, most_name);
  if (run.bad) html += ", first at <code>" + html_text(run.bad->node, most_name) + "</code>";
  html += "</p>";
  if (!place.empty()) html += "<p class=\"soft\">" + place + "</p>";
  return html + strip_svg(series, page_steps) + history_table(series) + "</section>";
}

std::string contents(const Model& model) {
  std::string html = "<ul class=\"chips\" aria-label=\"Targets\">";
  for (std::size_t i = 0; i < std::min(all_targets, model.series.size()); ++i) {
    const Series& series = model.series[i];
    html += fmt::format("<li class=\"chip {}\"><a href=\"#{}\"><b>{}</b> <span>{}</span></a></li>",
                        row_of(series.newest().state).css_class, html_escape(series.anchor),
                        html_text(series.target, most_name), row_of(series.newest().state).text);
  }
  return html + "</ul>";
}

}  // namespace

Page model_page(const Wall& wall, std::size_t place) {
  const Model& model = wall.models[place];
  std::string main = fmt::format(
      "<nav><a href=\"{}\">All models</a></nav><header><h1>{}</h1>{}<p class=\"soft\">SHA-256 "
      "<code>{}</code></p></header>",
      front_page_name, html_text(model.name, 200), contents(model), or_dash(html_text(model.sha256, 64)));
  for (std::size_t i = 0; i < std::min(all_targets, model.series.size()); ++i)
    main += series_section(model.series[i]);
  if (model.series.size() > all_targets)
    main +=
        fmt::format("<p class=\"soft\">{} more targets are left out.</p>", model.series.size() - all_targets);
  main +=
      "<footer><p>The newest release first; of one release the newest run; dates are in UTC. A difference is "
      "the largest error "
      "of the layer against the reference, and how many times the budget of rounding that is. Times are "
      "those "
      "of a run of the whole model.</p></footer>";
  return make_page(model.name + ": history", model_rules, main);
}

}  // namespace driftscope::wall
