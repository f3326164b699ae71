// A section of the report: memory over many runs of each target.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/bench/memory_growth.hpp"
#include "core/report/report_sections.hpp"

namespace driftscope::report_sections {
namespace {

constexpr double width = 220.0;
constexpr double height = 44.0;

/// The samples as a line, from the smallest to the largest; at least 1 % of the memory is the whole height,
/// so that noise does not look like growth.
std::string curve(const MemorySeries& series) {
  const auto [lowest, highest] = std::ranges::minmax(series.bytes);
  const double span = std::max(highest - lowest, std::max(0.01 * highest, 1.0));
  const double last = std::max(series.runs.back(), 1.0);
  std::string points;
  for (std::size_t i = 0; i < series.runs.size(); ++i)
    points += fmt::format("{}{:.1f},{:.1f}", i == 0 ? "" : " ", width * series.runs[i] / last,
                          height - 2.0 - (height - 4.0) * (series.bytes[i] - lowest) / span);
  return fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" "
      "aria-label=\"from {2} to {3}\"><polyline points=\"{4}\" fill=\"none\" stroke=\"var(--accent)\" "
      "stroke-width=\"1.5\"/></svg>",
      width, height, format_bytes(static_cast<std::int64_t>(series.bytes.front())),
      format_bytes(static_cast<std::int64_t>(series.bytes.back())), points);
}

std::string rows(const TargetResult& target, const MemoryOverRuns& memory) {
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
        format_bytes(static_cast<std::int64_t>(series.bytes.back())), curve(series));
  }
  return html;
}

}  // namespace

std::string memory_over_runs(const ComparisonView& view) {
  std::string html;
  std::size_t shown = 0;
  const auto add = [&](const TargetResult& target) {
    if (!target.trace || shown >= max_targets) return;
    const auto memory = memory_over_runs_of(*target.trace);
    if (!memory) return;
    ++shown;
    html += rows(target, *memory);
  };
  add(view.left);
  for (const TargetResult& right : view.right) add(right);
  if (html.empty()) return "";
  return "<section aria-labelledby=\"memory-runs\"><h2 id=\"memory-runs\">Memory over many runs</h2><p "
         "class=\"soft\">Bytes per run (Theil-Sen), with the interval at 99 %, after the first quarter of "
         "the samples.</p><div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Memory over many "
         "runs\"><table><tr><th scope=\"col\">target</th><th scope=\"col\" class=\"text\">memory</th><th "
         "scope=\"col\" class=\"text\">verdict</th><th scope=\"col\">per run</th><th scope=\"col\">from, "
         "to</th><th scope=\"col\" class=\"text\">over the runs</th></tr>" +
         html + "</table></div></section>";
}

}  // namespace driftscope::report_sections
