#include "core/wall/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/format.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/draw/theme.hpp"
#include "core/draw/verdict_mark.hpp"
#include "core/report/page.hpp"
#include "core/report/report_style.hpp"

namespace driftscope::wall {
namespace {

constexpr float step_width = 14.0f;
constexpr float mark_size = 9.0f;
constexpr float marks_height = 14.0f;
constexpr float times_height = 16.0f;

constexpr const char* common_rules = R"css(
a{color:inherit}a:focus-visible{outline:2px solid var(--accent)}
.strip{display:block;height:auto;margin-top:3px}
nav{margin-bottom:10px}
.worse{color:var(--fault);font-weight:600}.better{color:var(--accent);font-weight:600}
)css";

std::string step_title(const Run& run) {
  std::string text = day_of(run);
  const auto add = [&](const std::string& part) {
    if (!part.empty() && part != "–") text += " · " + part;
  };
  add(plain_text(release_text(run), most_name));
  add(std::string(row_of(run.state).text));
  if (run.bad) add("at " + plain_text(run.bad->node, most_name));
  add(format_ns(std::llround(std::clamp(run.time.ns, 0.0, 1e18))));
  return text;
}

/// That a target did not run is an empty square with a stroke: nothing was judged.
void paint_state(Painter& painter, Point centre, State state, const Theme& theme) {
  if (state != State::failed) return paint_verdict(painter, centre, mark_size, row_of(state).verdict, theme);
  const float half = mark_size / 2.0f;
  const Colour colour = theme.verdict(Verdict::fault);
  painter.frame({centre.x - half, centre.y - half, centre.x + half, centre.y + half}, colour, 1.4f, 1.0f);
  painter.line({centre.x - half, centre.y + half}, {centre.x + half, centre.y - half}, colour, 1.4f);
}

/// Times of one kind alone can be compared: a line ends where the kind changes, or nothing is known.
void paint_times(Painter& painter, const std::vector<const Run*>& shown, const Theme& theme) {
  double longest = 0.0;
  for (const Run* run : shown)
    if (std::isfinite(run->time.ns)) longest = std::max(longest, run->time.ns);
  if (longest <= 0.0) return;
  std::vector<Point> line;
  TimeKind kind = TimeKind::unknown;
  const auto end_line = [&] {
    if (line.size() > 1) painter.polyline(line, theme.series(0), 1.2f);
    if (line.size() == 1) painter.disc(line.front(), 1.3f, theme.series(0));
    line.clear();
  };
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const RunTime& time = shown[i]->time;
    const bool known = std::isfinite(time.ns) && time.ns > 0.0;
    if (!known || time.kind != kind) end_line();
    kind = time.kind;
    if (!known) continue;
    const auto share = static_cast<float>(time.ns / longest);
    line.push_back({(static_cast<float>(i) + 0.5f) * step_width,
                    marks_height + 1.0f + (times_height - 3.0f) * (1.0f - share)});
  }
  end_line();
}

}  // namespace

Page make_page(const std::string& title, std::string_view rules, const std::string& main) {
  const std::string style = std::string(common_rules) + std::string(rules);
  return {page_html(title, style, main), page_policy(report_style() + style)};
}

std::string state_html(State state) {
  return fmt::format("<span class=\"{}\">{}</span>", row_of(state).css_class, row_of(state).text);
}

std::string day_of(const Run& run) {
  constexpr std::size_t length = 10;  // "2026-11-30"
  return run.date.empty() ? "–" : run.date.substr(0, length);
}

std::string place_html(const std::string& system, const std::string& device, std::size_t width) {
  std::string text = html_text(system, width);
  if (!device.empty()) text += (text.empty() ? "" : " · ") + html_text(device, width);
  return text;
}

std::string model_html(const Model& model) {
  constexpr std::size_t digits = 8;
  std::string name = html_text(model.name, most_name);
  if (!model.named_alike) return name;
  return fmt::format("{} <small class=\"soft\">{}</small>", name, html_text(model.sha256.substr(0, digits)));
}

std::string strip_svg(const Series& series, std::size_t steps) {
  std::vector<const Run*> shown;
  for (const Step& step : steps_of(series.runs)) shown.push_back(&series.runs[step.last]);
  if (shown.size() > steps) shown.erase(shown.begin(), shown.end() - static_cast<std::ptrdiff_t>(steps));
  const Theme theme = light_theme();
  const float width = static_cast<float>(shown.size()) * step_width;
  SvgPainter painter(
      {width, marks_height + times_height,
       fmt::format("class=\"strip\" role=\"img\" width=\"{:.0f}\" aria-label=\"history of {}\"", width,
                   html_text(series.target, most_name))});
  paint_times(painter, shown, theme);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Run& run = *shown[i];
    painter.open_group([&] { return step_title(run); });
    paint_state(painter, {(static_cast<float>(i) + 0.5f) * step_width, marks_height / 2.0f}, run.state,
                theme);
    painter.close_group();
  }
  return painter.finish();
}

std::string link_to(const Model& model, const Series& series) {
  return html_escape(model.page + "#" + series.anchor);
}

}  // namespace driftscope::wall
