#include "core/report/report.hpp"

#include <fmt/format.h>

#include <span>

#include "core/base/format.hpp"
#include "core/report/page.hpp"
#include "core/report/report_style.hpp"
#include "core/report/section.hpp"

namespace driftscope {
namespace {

// Of the two megabytes that issue trackers accept; the rest is for the text after a section.
constexpr std::size_t max_bytes = 1'900'000;
constexpr std::size_t closing_bytes = 60'000;

std::string head(const ComparisonView& view) {
  const std::string style = report_style();
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
         page_policy(style) +
         "\">"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
         "<meta name=\"generator\" content=\"Driftscope\"><meta name=\"color-scheme\" content=\"light dark\">"
         "<title>" +
         html_text(view.model_name) + " · " + html_text(headline(view), 200) + "</title><style>" + style +
         "</style></head><body><a class=\"skip\" href=\"#main\">Skip to the result</a>";
}

std::string chip(const TargetResult& target) {
  // An error without a verdict is one of the run, or of what judges it.
  const bool ran = did_run(target) && (target.verification || !target.error);
  const Verdict verdict = target.verification ? target.verification->verdict : Verdict::missing;
  return fmt::format("<li class=\"chip v-{}\"><b>{}</b> <span>{}</span></li>",
                     ran ? verdict_name(verdict) : "fault", html_text(target.target, 48),
                     ran ? html_escape(verdict_text(verdict)) : "✗ did not run");
}

/// What runtimes let pass in the model.
std::string notes(const ComparisonView& view) {
  std::string html;
  for (const std::string& note : view.notes)
    html += "<p class=\"soft\">" + html_text(note, sections::max_reason) + "</p>";
  return html;
}

std::string title(const ComparisonView& view) {
  std::string html = "<header><h1>" + html_text(view.model_name) + "</h1><p class=\"headline\">" +
                     html_text(headline(view), sections::max_reason) +
                     "</p><ul class=\"chips\" aria-label=\"Verdict of each target\">" + chip(view.left);
  std::size_t listed = 1;
  for (const TargetResult& right : view.right)
    if (++listed <= sections::max_targets) html += chip(right);
  html += fmt::format("</ul><p class=\"soft\">input {}{} · compared with {}</p>{}</header>",
                      html_text(view.input_text, 200),
                      view.input_label.empty() ? "" : ", labelled " + html_text(view.input_label),
                      html_text(view.left.target, 80), notes(view));
  return html;
}

constexpr const char* legend_text =
    "<footer><p>Verdicts: <span class=\"v-identical\">= identical</span> no bit differs · ~ rounding within "
    "what float32 rounding does by chance · <span class=\"v-unjudged\">○ unjudged</span> the budget is "
    "inconclusive here: neither right nor wrong · <span class=\"v-suspect\">? suspect</span> rounding could "
    "explain it, but only by an implausible chance · <span class=\"v-fault\">✗ fault</span> no rounding "
    "explains it. The budget of a layer comes from the inputs that the target itself recorded, so an error "
    "is charged to the layer that made it. Times are medians without the first run.</p></footer>";

std::string left_out_section(const LeftOut& left_out) {
  if (left_out.empty()) return "";
  std::string html =
      "<section aria-labelledby=\"left-out\"><h2 id=\"left-out\">Left out</h2>"
      "<p>To keep the report small enough to attach. <code>--json</code> has everything.</p><ul>";
  for (const std::string& one : left_out) html += "<li>" + html_escape(one) + "</li>";
  return html + "</ul></section>";
}

}  // namespace

std::string comparison_report(const ComparisonView& view) {
  const LayerTable layers(view);
  LeftOut left_out;
  const std::string start = head(view) + "<main id=\"main\">" + title(view);
  const std::span<const Section> all = section_table().sections();
  std::vector<std::string> written(all.size());
  std::size_t used = start.size() + closing_bytes;
  const auto write = [&](bool rest) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].takes_rest != rest) continue;
      written[i] = all[i].write({view, layers, used < max_bytes ? max_bytes - used : 0, left_out});
      used += written[i].size();
    }
  };
  write(false);
  write(true);
  return start + fmt::format("{}", fmt::join(written, "")) + left_out_section(left_out) + legend_text +
         "</main></body></html>\n";
}

}  // namespace driftscope
