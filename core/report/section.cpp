#include "core/report/section.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/theme.hpp"

namespace driftscope::sections {

std::vector<const TargetResult*> first_targets(const ComparisonView& view) {
  std::vector<const TargetResult*> all = {&view.left};
  for (const TargetResult& right : view.right)
    if (all.size() < max_targets) all.push_back(&right);
  return all;
}

std::string open_section(std::string_view id, std::string_view title, std::string_view css_class) {
  return fmt::format("<section{2} aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2>", id, title,
                     css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class));
}

std::string open_table(const std::string& caption, const std::string& css_class) {
  return fmt::format(
      "<div class=\"scroll {1}\" tabindex=\"0\" role=\"group\" aria-label=\"{0}\"><table>"
      "<caption class=\"unseen\">{0}</caption>",
      caption, css_class);
}

std::string column_heads(std::span<const TargetResult* const> targets) {
  std::string html;
  for (const TargetResult* target : targets)
    html += "<th scope=\"col\">" + html_text(target->target, 60) + "</th>";
  return html;
}

std::string series_class(std::size_t target) { return fmt::format("s{}", target % series_colours); }

std::string bar(double share, const std::string& css_class) {
  const double clamped = std::isnan(share) ? 0.0 : std::clamp(share, 0.0, 1.0);
  // A class and no style attribute, which the report's own policy forbids.
  return fmt::format("<span class=\"bar {}\" aria-hidden=\"true\"><i class=\"w{}\"></i></span>", css_class,
                     std::lround(100.0 * clamped));
}

}  // namespace driftscope::sections
