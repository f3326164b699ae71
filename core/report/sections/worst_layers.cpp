// The layers that add most to the error, with heat maps.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/draw/bmp.hpp"
#include "core/draw/difference_map.hpp"
#include "core/report/finding_text.hpp"
#include "core/report/section.hpp"
#include "core/results/layer_rank.hpp"

namespace driftscope::sections::worst_layers {
namespace {

constexpr std::size_t max_worst_layers = 6;
constexpr std::size_t max_section_bytes = 600'000;  // heat maps are large
constexpr std::int64_t picture_pixels = 240;        // the longer side on the page

std::string index_list(const std::vector<std::int64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ", "));
}

/// The trace to show beside a target's: the left one; for the left target the first one that recorded it.
std::size_t partner_of(const LayerTable& layers, std::size_t row, std::size_t target) {
  if (target > 0) return 0;
  for (std::size_t t = 1; t < layers.targets().size(); ++t)
    if (layers.tensor(row, t) != nullptr) return t;
  return 0;
}

std::string picture_figure(const Image& image, const std::string& title, const std::string& alt,
                           const std::string& low, const std::string& high, const char* ramp) {
  const std::int64_t scale = std::max<std::int64_t>(1, picture_pixels / std::max(image.width, image.height));
  return fmt::format(
      "<figure class=\"map\"><figcaption>{}</figcaption><img alt=\"{}\" width=\"{}\" height=\"{}\" "
      "src=\"{}\"><div class=\"ramp\"><span>{}</span><i class=\"{}\"></i><span>{}</span></div></figure>",
      title, alt, image.width * scale, image.height * scale, bmp_data_uri(image), low, ramp, high);
}

std::string maps(const DifferenceMap& map, const std::string& left, const std::string& right) {
  const std::string low = format_number(map.low);
  const std::string high = format_number(map.high);
  const std::string reach = format_number(map.largest);
  const auto values = [&](const std::string& who, const Cells& cells) {
    return picture_figure(heat_map(cells, map.low, map.high, ColourMap::sequential), html_text(who, 40),
                          fmt::format("values of {} from {} to {}", html_text(who, 60), low, high), low, high,
                          "sequential");
  };
  std::string html =
      "<div class=\"maps\">" + values(left, map.left) + values(right, map.right) +
      picture_figure(heat_map(map.difference, -map.largest, map.largest, ColourMap::diverging),
                     "difference, second − first",
                     fmt::format("difference, at most {}, largest at {}", reach, index_list(map.worst)),
                     "−" + reach, "+" + reach, "diverging") +
      "</div>";
  std::string notes = map.plane;
  const auto note = [&](const std::string& text) { notes += (notes.empty() ? "" : " · ") + text; };
  if (map.left.block_width > 1 || map.left.block_height > 1)
    note(fmt::format("a cell is {}×{} elements: their mean, or the largest difference among them",
                     map.left.block_height, map.left.block_width));
  note(fmt::format("largest difference at {}: {:.9g} and {:.9g}", index_list(map.worst), map.worst_left,
                   map.worst_right));
  if (map.not_finite > 0)
    note(
        fmt::format("{} elements are NaN or infinite (<i class=\"swatch nan\"></i> NaN, <i class=\"swatch "
                    "plus-inf\"></i> +∞, <i class=\"swatch minus-inf\"></i> −∞)",
                    map.not_finite));
  return html + "<p class=\"soft\">" + notes + "</p>";
}

std::string why(const ResultCell& cell, const LayerVerdict* verified) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " · ") + part; };
  if (verified != nullptr) {
    if (cell.verified)
      add(fmt::format("{} × the rounding budget", format_number(cell[verified_metric("budget_used")])));
    if (verified->worst) add(worst_text(*verified->worst));
    if (!verified->group.empty())
      add(fmt::format("judged together with {} nodes that were not recorded", verified->group.size()));
  }
  if (!cell.note().empty()) add(html_text(cell.note(), max_reason));
  if (cell.compared)
    add(fmt::format("{} of {} elements differ, by at most {} ({} ULP)",
                    cell.whole(compared_metric("different_elements")),
                    cell.whole(compared_metric("elements")), format_number(cell[compared_metric("max_abs")]),
                    format_ulp(cell[compared_metric("max_ulp")])));
  if (cell.inherited) add("the layer itself is exact: it inherits the difference");
  return text;
}

std::string worst_layer(const LayerTable& layers, std::size_t row, const LayerRank& rank) {
  const auto& layer = layers.rows()[row];
  const ResultCell cell = layers.cell(row, rank.target);
  std::string html = fmt::format(
      "<article class=\"layer\"><h3>{} <span class=\"soft\">{} {}</span> <span class=\"v-{}\">{}</span> "
      "<span class=\"soft\">on {}</span></h3><p>{}</p>",
      html_text(layer.node, 60), html_text(layer.op, 40), shape_text(layer.shape), verdict_name(cell.verdict),
      html_escape(verdict_text(cell.verdict)), html_text(layers.targets()[rank.target]->target, 60),
      why(cell, layers.verified(row, rank.target)));
  const std::size_t partner = partner_of(layers, row, rank.target);
  const Tensor* own = layers.tensor(row, rank.target);
  const Tensor* other = partner == rank.target ? nullptr : layers.tensor(row, partner);
  if (own != nullptr && other != nullptr) {
    // Always the left target first, as everywhere on the page.
    const bool swapped = rank.target == 0;
    const auto map = swapped ? difference_map(*own, *other) : difference_map(*other, *own);
    if (map)
      html += maps(*map, layers.targets()[swapped ? rank.target : partner]->target,
                   layers.targets()[swapped ? partner : rank.target]->target);
  }
  return html + "</article>";
}

std::string write(const SectionContext& context) {
  const LayerTable& layers = context.layers;
  if (layers.rows().empty()) return "";
  std::string html = open_section("worst", "Worst layers");
  std::size_t shown_layers = 0;
  std::size_t layers_with_own_error = 0;
  std::size_t used = 0;
  bool full = false;
  for (const auto& [rank, row] : ranked_layers(layers)) {
    if (rank.tier < own_error_tier) break;
    ++layers_with_own_error;
    if (full || shown_layers == max_worst_layers) continue;
    std::string one = worst_layer(layers, row, rank);
    full = used + one.size() > std::min(max_section_bytes, context.max_bytes);
    if (full) continue;
    used += one.size();
    html += one;
    ++shown_layers;
  }
  if (layers_with_own_error == 0)
    html += context.view.right.empty() || layers.targets().size() < 2
                ? "<p>No layer is suspect or a fault.</p>"
                : "<p>No layer adds an error of its own: there is nothing to show here.</p>";
  if (layers_with_own_error > shown_layers)
    context.left_out.push_back(fmt::format("heat maps of {} of {} layers with an error of their own.",
                                           layers_with_own_error - shown_layers, layers_with_own_error));
  return html + "</section>";
}

}  // namespace

void add_to(SectionTable& table) { table.add({30, write}); }

}  // namespace driftscope::sections::worst_layers
