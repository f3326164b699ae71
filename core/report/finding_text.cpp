#include "core/report/finding_text.hpp"

#include <fmt/format.h>

#include "core/base/format.hpp"

namespace driftscope {
namespace {

std::string place_text(const std::vector<std::int64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ", "));
}

}  // namespace

std::string worst_text(const WorstElement& worst) {
  return fmt::format("worst at {}: got {:.9g}, expected {:.9g}", place_text(worst.index), worst.got,
                     worst.want);
}

std::string finding_text(const LayerVerdict& layer) {
  const bool bad = is_bad(layer.verdict);
  std::string text = reason_of(layer);
  if (text.empty() && bad) {
    const bool rounds = !layer.worst || layer.worst->budget != 0.0;
    text = rounds ? fmt::format("error is {} × the rounding budget", format_number(layer.budget_used))
                  : "values differ where nothing is rounded";
  }
  const LayerExplanation* const why = layer.explanation ? &*layer.explanation : nullptr;
  if (why != nullptr && !why->cause && why->pattern && why->pattern->share < 0.9)
    text += (text.empty() ? "" : "; ") + fmt::format("wrong: {}", why->pattern->text);
  // Some reasons name the element themselves.
  if (bad && layer.worst && text.find(place_text(layer.worst->index)) == std::string::npos)
    text += (text.empty() ? "" : "; ") + worst_text(*layer.worst);
  return text;
}

}  // namespace driftscope
