#include "core/gui/selection.hpp"

namespace driftscope::gui {

void SelectionHistory::select(const Selection& selection) {
  if (selection == current()) return;
  states_.resize(place_ + 1);
  states_.push_back(selection);
  if (states_.size() > max_states) states_.erase(states_.begin());
  place_ = states_.size() - 1;
}

}  // namespace driftscope::gui
