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
  worst_ = carried_ ? worse_of(worst_, step.verdict) : step.verdict;
}

std::string_view FlipJudge::cause() const {
  if (is_bad(worst_)) return "fault";
  return worst_ == Verdict::identical || worst_ == Verdict::rounding ? "rounding" : "unjudged";
}

}  // namespace driftscope
