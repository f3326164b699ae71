// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/explanation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/format.hpp"

namespace driftscope {
namespace {

std::string times(double budget) {
  return std::isfinite(budget) ? fmt::format("{} ×", format_number(budget))
                               : std::string("infinitely many ×");
}

std::string where_text(const LayerExplanation& explanation) {
  const ErrorPattern* const pattern = explanation.pattern ? &*explanation.pattern : nullptr;
  std::string text = fmt::format("{} of {} elements are wrong", format_count(explanation.wrong),
                                 format_count(explanation.elements));
  if (pattern != nullptr && explanation.wrong < explanation.elements) text += ": " + pattern->text;
  return text;
}

}  // namespace

std::string explanation_text(const LayerExplanation& explanation) {
  if (explanation.wrong == 0) return "no element is beyond its budget; the errors are too large as a whole";
  if (explanation.cause) {
    const Cause& cause = *explanation.cause;
    return fmt::format("explained by {}: the error falls from {} to {} the budget in all {} elements",
                       cause.text, times(cause.budget_before), times(cause.budget_after),
                       format_count(cause.elements));
  }
  std::string text = fmt::format("none of the {} hypotheses tried explains it; {}",
                                 format_count(explanation.tried), where_text(explanation));
  if (!explanation.hypotheses.empty()) {
    const Hypothesis& best = explanation.hypotheses.front();
    text += fmt::format("; closest: {}, right for {} elements", best.text, format_count(best.explained));
  }
  return text;
}

}  // namespace driftscope
