#include "core/results/answer_move_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"

namespace driftscope {

std::string move_text(double moved) {
  if (std::isnan(moved)) return "–";
  if (moved == 0.0) return "0";
  return (moved < 0.0 ? "−" : "+") + format_number(std::fabs(moved));
}

std::string share_text(double share) {
  if (std::isnan(share)) return "–";
  if (share > 0.0 && share < 0.001) return "<0.1 %";
  return fmt::format("{:.1f} %", 100.0 * share);
}

std::string answer_move_text(const AnswerMove& move) {
  if (move.answer.empty()) return "sensitivity was not computed: " + move.left_out;
  std::string text = fmt::format(
      "{} is {}; predicted to first order, rounding moves it by {} at most and likely by less than {}",
      move.answer, format_number(move.exact), format_number(move.worst), format_number(move.likely));
  if (move.unbounded > 0)
    text += fmt::format(" (without {} layer{} that {} no finite budget)", move.unbounded,
                        move.unbounded == 1 ? "" : "s", move.unbounded == 1 ? "has" : "have");
  if (!move.left_out.empty()) return text + "; " + move.left_out;
  if (std::isnan(move.seen)) return text + "; what it did here was not recorded";
  text += fmt::format("; here it moved by {}", move_text(move.seen));
  if (std::fabs(move.seen) > move.worst) text += ", more than that estimate";
  return text;
}

std::vector<const LayerVerdict*> most_sensitive(const Verification& verification, std::size_t limit) {
  std::vector<const LayerVerdict*> layers;
  for (const LayerVerdict& layer : verification.layers)
    if (layer.sensitivity > 0.0) layers.push_back(&layer);
  // Addresses are in the order of the layers.
  std::ranges::sort(layers, [](const LayerVerdict* a, const LayerVerdict* b) {
    return a->sensitivity == b->sensitivity ? a < b : a->sensitivity > b->sensitivity;
  });
  layers.resize(std::min(layers.size(), limit));
  return layers;
}

}  // namespace driftscope
