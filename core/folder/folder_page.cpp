#include "core/folder/folder_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/folder/folder_text.hpp"
#include "core/report/page.hpp"
#include "core/report/section.hpp"

namespace driftscope {
namespace folder_page_parts {
namespace {

using documents::Folder;
using documents::FolderCell;
using documents::FolderPart;
using documents::FolderVariant;

constexpr std::size_t most_reason = 1000;
constexpr std::size_t most_name = 120;

// A cell says four things below one another; of a reason, which is long, the width is bounded.
constexpr const char* page_style = R"css(
.variants td,.variants th{vertical-align:top}
.variants td+td,.variants th[scope=col]+th+th{text-align:left}
.variants td span{display:block}.variants td.why{white-space:normal;min-width:260px;
overflow-wrap:anywhere}
.variants th b{display:block}
.pick>*,.pick>:first-child{background:color-mix(in srgb,var(--accent) 12%,var(--panel))}
)css";

std::string verdict_class(const FolderCell& cell) {
  return cell.verdict.empty() ? "v-missing" : "v-" + cell.verdict;
}

/// The first variant above that failed on the target for the same reason; null: none did.
const FolderVariant* same_failure(const FolderPart& part, const FolderVariant& variant,
                                  const FolderCell& cell) {
  for (const FolderVariant& above : part.variants) {
    if (&above == &variant) break;
    for (const FolderCell& one : above.cells)
      if (one.target == cell.target && one.error == cell.error) return &above;
  }
  return nullptr;
}

std::string cell_html(const FolderPart& part, const FolderVariant& variant, const FolderCell& cell) {
  if (!cell.error.empty()) {
    const FolderVariant* const same = same_failure(part, variant, cell);
    return fmt::format(
        "<td class=\"why\"><span class=\"v-missing\">{}</span><span>{}</span></td>",
        html_text(cell_verdict(cell)),
        same != nullptr ? "as " + html_text(same->name, most_name) : html_text(cell.error, most_reason));
  }
  std::string html = fmt::format("<td><span class=\"{}\">{}</span>", html_text(verdict_class(cell)),
                                 html_text(cell_verdict(cell)));
  const auto line = [&](const std::string& text) { html += fmt::format("<span>{}</span>", html_text(text)); };
  if (cell.same_prediction) line("prediction: " + prediction_text(cell));
  if (cell.drift) line("drift: " + format_number(*cell.drift));
  std::string times = cell.run_ns ? "run: " + run_text(cell) : "";
  if (cell.load_ns) times += (times.empty() ? "" : ", ") + ("load: " + load_text(cell));
  if (!times.empty()) html += fmt::format("<span class=\"soft\">{}</span>", html_text(times));
  if (cell.peak_bytes)
    html += fmt::format("<span class=\"soft\">memory: {}</span>", html_text(format_bytes(*cell.peak_bytes)));
  if (!cell.no_answer.empty())
    html += fmt::format("<span class=\"soft\">{}</span>", html_text(cell.no_answer, most_reason));
  return html + "</td>";
}

std::string row_html(const FolderPart& part, const FolderVariant& variant, std::size_t targets,
                     std::int64_t largest) {
  const bool pick = variant.name == part.smallest;
  const double share = largest > 0 ? static_cast<double>(variant.bytes) / static_cast<double>(largest) : 0.0;
  std::string html = fmt::format(
      "<tr{}><th scope=\"row\"><b>{}</b><span class=\"soft\">{}</span></th><td>{}{}</td>",
      pick ? " class=\"pick\"" : "", html_text(variant.name, most_name), html_text(variant.file, most_name),
      html_text(format_bytes(variant.bytes)), sections::bar(share, ""));
  if (!variant.cells.empty())
    for (const FolderCell& cell : variant.cells) html += cell_html(part, variant, cell);
  else
    html += fmt::format(
        "<td class=\"why\" colspan=\"{}\"><span class=\"v-missing\">did not run</span><span>{}</span></td>",
        std::max<std::size_t>(1, targets), html_text(variant.error, most_reason));
  return html + "</tr>";
}

std::string part_section(const Folder& results, const FolderPart& part, std::size_t number) {
  const std::string name = html_text(part.name, most_name);
  std::string html = sections::open_section(fmt::format("part-{}", number), name);
  html += fmt::format("<p class=\"headline\">{}</p>", html_text(part.conclusion, 4 * most_reason));
  if (!part.excluded.empty()) {
    html += "<ul>";
    for (const auto& one : part.excluded)
      html += fmt::format("<li><b>{}</b> is excluded: {}</li>", html_text(one.name, most_name),
                          html_text(one.why, most_reason));
    html += "</ul>";
  }
  std::int64_t largest = 0;
  for (const FolderVariant& variant : part.variants) largest = std::max(largest, variant.bytes);
  html += sections::open_table("Variants by target: " + name, "variants") +
          "<tr><th scope=\"col\">variant</th><th scope=\"col\">size</th>";
  for (const std::string& target : results.targets)
    html += fmt::format("<th scope=\"col\">{}</th>", html_text(target, most_name));
  html += "</tr>";
  for (const FolderVariant& variant : part.variants)
    html += row_html(part, variant, results.targets.size(), largest);
  html += "</table></div>";
  for (const FolderVariant& variant : part.variants)
    if (!variant.inputs.empty())
      html += fmt::format("<p class=\"soft\">{}: inputs {}</p>", html_text(variant.name, most_name),
                          html_text(fmt::format("{}", fmt::join(variant.inputs, ", ")), most_reason));
  for (const std::string& note : part.notes) html += fmt::format("<p>{}</p>", html_text(note, most_reason));
  return html + fmt::format("<p class=\"soft\">Input: {}</p></section>", html_text(part.input, most_reason));
}

}  // namespace
}  // namespace folder_page_parts

std::string folder_page(const documents::Folder& results) {
  using namespace folder_page_parts;
  const std::string title = fmt::format("{}: variants of a model", results.folder);
  std::string main = fmt::format(
      "<header><h1>{}</h1><p class=\"soft\">Every variant on every target. The verdict is about the run: "
      "each "
      "layer against what it should have computed from its own inputs. Prediction and drift are about the "
      "weights: the answer beside that of the reference variant on {}, for the same input; drift is the "
      "largest difference as a share of the output's largest element.</p></header>",
      html_text(title, 300), html_text(results.reference_target, most_name));
  for (std::size_t i = 0; i < results.parts.size(); ++i) main += part_section(results, results.parts[i], i);
  if (!results.not_recognised.empty()) {
    main += sections::open_section("others", "Not recognised as a variant") + "<ul>";
    for (const std::string& one : results.not_recognised)
      main += fmt::format("<li>{}</li>", html_text(one, most_name));
    main += "</ul></section>";
  }
  return page_html(title, page_style, main);
}

}  // namespace driftscope
