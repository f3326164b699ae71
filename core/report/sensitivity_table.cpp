#include "core/report/sensitivity_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/format.hpp"
#include "core/report/tables.hpp"
#include "core/report/text_table.hpp"
#include "core/results/answer_move_text.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope {
namespace {

constexpr std::size_t sensitive_layers = 5;

double moved_in(const Verification& verification, const std::string& output) {
  const auto found = std::ranges::find(verification.layers, output, &LayerVerdict::output);
  return found == verification.layers.end() ? std::numeric_limits<double>::quiet_NaN() : found->moved;
}

}  // namespace

std::string sensitivity_table(std::span<const NamedVerification> targets) {
  const auto first = std::ranges::find_if(targets, [](const NamedVerification& one) {
    return one.verification != nullptr && !most_sensitive(*one.verification, 1).empty();
  });
  if (first == targets.end()) return "";
  const std::vector<const LayerVerdict*> layers = most_sensitive(*first->verification, sensitive_layers);
  std::vector<std::string> names;
  for (const LayerVerdict* layer : layers) names.push_back(layer->node);
  names = fitting_names(names, layer_name_width);
  TextTable table;
  table.column("layer", Align::left);
  table.column("op", Align::left);
  for (const char* title : {"share", "can move", "likely"}) table.column(title, Align::right);
  for (const NamedVerification& one : targets)
    if (one.verification != nullptr)
      table.column(one.name.empty() ? "moved" : one.name + " moved", Align::right);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerVerdict& layer = *layers[i];
    std::vector<std::string> cells = {elide_start(names[i], layer_name_width), elide(layer.op, 20),
                                      share_text(layer.sensitivity), format_number(layer.can_move),
                                      format_number(layer.likely_move)};
    for (const NamedVerification& one : targets)
      if (one.verification != nullptr) cells.push_back(move_text(moved_in(*one.verification, layer.output)));
    table.row(std::move(cells));
  }
  const std::string& answer =
      first->verification->answer ? first->verification->answer->answer : "the answer";
  return fmt::format("Where rounding can move {} (first-order estimate)\n{}", answer, table.text());
}

}  // namespace driftscope
