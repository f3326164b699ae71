#include "core/report/explanation_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/format.hpp"
#include "core/report/finding_text.hpp"

namespace driftscope {
namespace {

std::string times_text(double budget) {
  return std::isfinite(budget) ? format_number(budget) + " ×" : std::string("beyond any ×");
}

std::string evidence_text(const LayerExplanation& explanation) {
  std::string text = fmt::format("  wrong       {} of {} elements", format_count(explanation.wrong),
                                 format_count(explanation.elements));
  if (explanation.pattern) text += ": " + explanation.pattern->text;
  text += "\n";
  if (explanation.cause)
    text += fmt::format("  by accident at most {:.0e} in {} {} tried\n",
                        std::fmax(explanation.cause->chance, 1e-300), format_count(explanation.tried),
                        explanation.tried == 1 ? "hypothesis" : "hypotheses");
  bool first = true;
  for (const Hypothesis& one : explanation.hypotheses) {
    if (explanation.cause && one.id == explanation.cause->id) continue;
    text += fmt::format("  {}  {} ({}): right for {} elements, largest error {} its budget\n",
                        first ? "not enough" : "          ", one.text, one.id, format_count(one.explained),
                        times_text(one.budget_after));
    first = false;
  }
  if (explanation.matters) text += "  matters     " + explanation.matters->answer_with_layer_right + "\n";
  return text;
}

}  // namespace

std::string explanations_text(const Verification& verification, const std::string& trace) {
  std::string text;
  for (const LayerVerdict& layer : verification.layers) {
    if (!is_bad(layer.verdict)) continue;
    text += fmt::format("{} {} at {} ({}, {})", row_of(layer.verdict).mark, verdict_name(layer.verdict),
                        layer.node, layer.op, layer.output);
    if (!layer.explanation) {
      text += "\n  " + finding_text(layer) + "\n";
      continue;
    }
    text += "\n  " + explanation_text(*layer.explanation) + "\n";
    text += evidence_text(*layer.explanation);
    if (!layer.explanation->cause) text += "  " + finding_text(layer) + "\n";
  }
  if (text.empty())
    return fmt::format("{}: {} layers, none is suspect or a fault: nothing to explain\n", trace,
                       verification.layers.size());
  if (verification.matters) text += causal_text(*verification.matters) + "\n";
  return trace + ":\n" + text;
}

}  // namespace driftscope
