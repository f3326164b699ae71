#include "core/decode/step_verdicts.hpp"

#include <algorithm>

namespace driftscope {

char mark_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::identical: return '=';
    case Verdict::rounding: return '~';
    case Verdict::unjudged: return 'o';
    case Verdict::suspect: return '?';
    case Verdict::fault: return 'x';
    case Verdict::missing: return '.';
  }
  return '.';
}

std::string layer_marks(const Verification& step, std::vector<std::string>& layers) {
  std::string marks(layers.size(), '.');
  std::size_t expected = 0;  // steps mostly have the same layers in the same order
  for (const LayerVerdict& layer : step.layers) {
    if (layer.constant) continue;
    if (expected >= layers.size() || layers[expected] != layer.output) {
      const auto found = std::ranges::find(layers, layer.output);
      expected = static_cast<std::size_t>(found - layers.begin());
      if (found == layers.end()) {
        layers.push_back(layer.output);
        marks.push_back('.');
      }
    }
    marks[expected] = mark_of(layer.verdict);
    ++expected;
  }
  return marks;
}

void FlipJudge::add(const Verification& step) {
  Verdict worst = step.verdict;
  // A missing layer counts in no verdict of a run, but nothing says that it is right.
  for (const LayerVerdict& layer : step.layers)
    if (!layer.constant && layer.verdict == Verdict::missing) worst = worse_of(worst, Verdict::unjudged);
  worst_ = carried_ ? worse_of(worst_, worst) : worst;
}

std::string_view flip_cause(Verdict reference, Verdict target) {
  if (is_bad(reference) || is_bad(target)) return "fault";
  const auto explained = [](Verdict v) { return v == Verdict::identical || v == Verdict::rounding; };
  return explained(reference) && explained(target) ? "rounding" : "unjudged";
}

}  // namespace driftscope
