// Accuracy and agreement over a data set.
#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/report/section.hpp"
#include "core/results/output.hpp"

namespace driftscope::sections::data_set {
namespace {

std::string write(const SectionContext& context) {
  const ComparisonView& view = context.view;
  if (!view.left.dataset) return "";
  std::string html = open_section("data-set", "Over the whole data set") + "<p class=\"soft\">" +
                     html_text(view.dataset_text, 200) + "</p>" + open_table("Data set") +
                     "<tr><th scope=\"col\">target</th><th scope=\"col\">correct</th>"
                     "<th scope=\"col\">accuracy</th><th scope=\"col\">same prediction as " +
                     html_text(view.left.target, 60) + "</th></tr>";
  const std::vector<const TargetResult*> all = first_targets(view);
  for (std::size_t t = 0; t < all.size(); ++t) {
    if (!all[t]->dataset) continue;
    const DatasetResult& result = *all[t]->dataset;
    const bool labelled = result.correct >= 0 && result.samples > 0;
    const double share =
        labelled ? static_cast<double>(result.correct) / static_cast<double>(result.samples) : 0.0;
    html +=
        fmt::format("<tr><th scope=\"row\">{}</th>{}<td>{} of {}</td></tr>", html_text(all[t]->target, 60),
                    labelled ? fmt::format("<td>{} of {}</td><td>{:.2f} %{}</td>", result.correct,
                                           result.samples, 100.0 * share, bar(share, series_class(t)))
                             : "<td>–</td><td>–</td>",
                    agreement(*view.left.dataset, result), result.samples);
  }
  return html + "</table></div></section>";
}

}  // namespace

void add_to(SectionTable& table) { table.add({50, write}); }

}  // namespace driftscope::sections::data_set
