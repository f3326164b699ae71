// The input as a picture, and the best classes of each target.
#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/draw/bmp.hpp"
#include "core/draw/sample_picture.hpp"
#include "core/report/section.hpp"
#include "core/results/output.hpp"

namespace driftscope::sections::answers {
namespace {

constexpr std::size_t max_classes = 10;

std::string score_cell(const TargetResult& target, std::size_t place, std::int64_t index, bool percent) {
  const Tensor* output = target.trace ? answer(*target.trace) : nullptr;
  if (output == nullptr || output->dtype() != DType::float32 || index >= output->elements())
    return "<td>–</td>";
  const auto value = static_cast<double>(output->values<float>()[static_cast<std::size_t>(index)]);
  return percent
             ? fmt::format("<td>{:.3f} %{}</td>", 100.0 * value, bar(value, "wide " + series_class(place)))
             : fmt::format("<td>{:.6g}</td>", value);
}

std::string write(const SectionContext& context) {
  const ComparisonView& view = context.view;
  const auto all = first_targets(view);
  const Tensor* guide = nullptr;
  std::string picture;
  for (const TargetResult* target : all) {
    if (!target->trace) continue;
    if (guide == nullptr) guide = answer(*target->trace);
    // A colour sample of 512×512 pixels would be a megabyte.
    if (picture.empty() && !target->trace->tensors.empty() &&
        target->trace->tensors.front().tensor.elements() <= 3 * 128 * 128)
      picture = bmp_data_uri(sample_picture(target->trace->tensors.front().tensor));
  }
  if (guide == nullptr) return "";
  const auto classes =
      has_classes(view) ? top_classes(*guide, view.class_names, max_classes) : std::vector<ClassScore>();
  if (classes.empty() && picture.empty()) return "";
  const bool percent = is_distribution(*guide);
  std::string html = open_section("answers", "Answers side by side") + "<div class=\"pair\">";
  if (!picture.empty()) {
    html += "<div><img class=\"sample\" alt=\"the input\" src=\"" + picture + "\">";
    if (!view.input_label.empty())
      html += "<p class=\"soft\">labelled " + html_text(view.input_label) + "</p>";
    html += "</div>";
  }
  if (!classes.empty()) {
    html +=
        open_table("Answers side by side") + "<tr><th scope=\"col\">class</th>" + column_heads(all) + "</tr>";
    for (const ClassScore& row : classes) {
      html += "<tr><th scope=\"row\">" + html_text(row.name, 60) + "</th>";
      for (std::size_t t = 0; t < all.size(); ++t) html += score_cell(*all[t], t, row.index, percent);
      html += "</tr>";
    }
    html += "</table></div>";
  }
  return html + "</div></section>";
}

}  // namespace

void add_to(SectionTable& table) { table.add({40, write}); }

}  // namespace driftscope::sections::answers
