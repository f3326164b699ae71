// Memory over many runs of each target.
#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/bench/memory_growth.hpp"
#include "core/draw/memory_chart.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/report/section.hpp"

namespace driftscope::sections::memory_over_runs {
namespace {

constexpr float width = 220.0f;
constexpr float height = 44.0f;

std::string curve(const MemorySeries& series, std::size_t target) {
  SvgPainter painter(
      {width, height,
       fmt::format("width=\"{:.0f}\" height=\"{:.0f}\" role=\"img\" aria-label=\"from {} to {}\"", width,
                   height, format_bytes(static_cast<std::int64_t>(series.bytes.front())),
                   format_bytes(static_cast<std::int64_t>(series.bytes.back())))});
  paint_growth(painter, {0.0f, 2.0f, width, height - 2.0f}, series.runs, series.bytes,
               light_theme().series(target));
  return painter.finish();
}

std::string rows(const TargetResult& target, std::size_t place, const MemoryOverRuns& memory) {
  std::string html;
  for (const MemorySeries& series : memory.series) {
    if (series.runs.empty()) continue;
    const GrowthEstimate estimate = estimate_growth(series);
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td><td class=\"text{}\">{}</td><td>{}</td>"
        "<td>{} → {}</td><td class=\"text\">{}</td></tr>",
        html_text(target.target, 60), html_text(memory_kind_text(series.kind), 40),
        estimate.growth == Growth::grows ? " v-fault" : "", growth_name(estimate.growth),
        growth_per_run_text(estimate), format_bytes(static_cast<std::int64_t>(series.bytes.front())),
        format_bytes(static_cast<std::int64_t>(series.bytes.back())), curve(series, place));
  }
  return html;
}

std::string write(const SectionContext& context) {
  std::string html;
  const std::vector<const TargetResult*> targets = first_targets(context.view);
  for (std::size_t t = 0; t < targets.size(); ++t)
    if (targets[t]->trace)
      if (const auto memory = memory_over_runs_of(*targets[t]->trace)) html += rows(*targets[t], t, *memory);
  if (html.empty()) return "";
  return open_section("memory-runs", "Memory over many runs") +
         "<p class=\"soft\">Bytes per run (Theil-Sen), with the interval at 99 %, after the first quarter of "
         "the samples.</p>" +
         open_table("Memory over many runs") +
         "<tr><th scope=\"col\">target</th><th scope=\"col\" class=\"text\">memory</th><th "
         "scope=\"col\" class=\"text\">verdict</th><th scope=\"col\">per run</th><th scope=\"col\">from, "
         "to</th><th scope=\"col\" class=\"text\">over the runs</th></tr>" +
         html + "</table></div></section>";
}

}  // namespace

void add_to(SectionTable& table) { table.add({60, write}); }

}  // namespace driftscope::sections::memory_over_runs
