// Each target: verdict, first difference, time, memory, and what ran.
#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/report/run_time_text.hpp"
#include "core/report/section.hpp"

namespace driftscope::sections::targets {
namespace {

std::string target_row(const TargetResult& target) {
  std::string html = "<tr><th scope=\"row\">" + html_text(target.target, 80) + "</th>";
  if (!did_run(target))
    return html +
           "<td class=\"text v-fault\">✗ did not run</td><td class=\"text\">–</td><td>–</td><td>–</td>"
           "<td class=\"text\">–</td></tr>";
  const Verdict verdict = target.verification ? target.verification->verdict : Verdict::missing;
  html += fmt::format("<td class=\"text v-{}\">{}</td>", verdict_name(verdict),
                      html_escape(verdict_text(verdict)));
  std::string divergence = "–";
  if (target.comparison) divergence = html_text(target.comparison->first_divergence.value_or("none"), 40);
  const Trace nothing_known;
  const Trace& trace = target.trace ? *target.trace : nothing_known;
  const MemoryRecord peak = peak_memory(trace);
  const RunTime time = run_time(target);
  html += fmt::format("<td class=\"text\">{}</td><td>{}</td><td>{} <span class=\"soft\">{}</span></td>",
                      divergence, html_text(short_run_time_text(time), 60), format_bytes(peak.bytes),
                      html_text(peak.kind, 30));
  html += "<td class=\"text wrap\">" + html_text(run_text(trace), 200);
  html += fmt::format("<br><span class=\"soft\">whole model {}; {}</span>",
                      html_text(run_time_text(time), 1000), html_text(layer_times_text(time), 100));
  for (const std::string& note : target_notes(target))
    html += "<br><span class=\"soft\">" + html_text(note, max_reason) + "</span>";
  html += "</td>";
  return html + "</tr>";
}

std::string write(const SectionContext& context) {
  const ComparisonView& view = context.view;
  std::string html =
      open_section("targets", "Targets") + open_table("Targets and their verdicts") +
      "<tr><th scope=\"col\">target</th><th scope=\"col\" class=\"text\">verdict</th>"
      "<th scope=\"col\" class=\"text\">first difference</th><th scope=\"col\">whole model</th>"
      "<th scope=\"col\">peak memory</th><th scope=\"col\" class=\"text\">ran</th></tr>";
  std::string errors;
  for (const TargetResult* target : first_targets(view)) {
    html += target_row(*target);
    if (target->error)
      errors += fmt::format("<p class=\"error\"><b>{}</b> {}</p>", html_text(target->target),
                            html_text(target->error->message, max_reason));
  }
  if (view.right.size() + 1 > max_targets)
    context.left_out.push_back(
        fmt::format("{} of {} targets.", view.right.size() + 1 - max_targets, view.right.size() + 1));
  return html + "</table></div>" + errors + "</section>";
}

}  // namespace

void add_to(SectionTable& table) { table.add({10, write}); }

}  // namespace driftscope::sections::targets
