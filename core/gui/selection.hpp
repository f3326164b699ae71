// The views' common selection, with undo and redo. Clients: every view.
#pragma once

#include <cstddef>
#include <vector>

#include "core/gui/layer_match.hpp"

namespace driftscope::gui {

struct Selection {
  std::size_t layer = no_place;
  std::size_t target = 1;  ///< the one that is compared with the left
  bool operator==(const Selection&) const = default;
};

class SelectionHistory {
 public:
  [[nodiscard]] const Selection& current() const { return states_[place_]; }

  /// Selecting the current selection again adds no undo step.
  void select(const Selection& selection);
  void select_layer(std::size_t layer) { select({layer, current().target}); }
  void select_target(std::size_t target) { select({current().layer, target}); }

  [[nodiscard]] bool can_undo() const { return place_ > 0; }
  [[nodiscard]] bool can_redo() const { return place_ + 1 < states_.size(); }
  void undo() { place_ -= can_undo() ? 1 : 0; }
  void redo() { place_ += can_redo() ? 1 : 0; }

  /// For another snapshot, whose layers are different.
  void reset(const Selection& selection) { states_ = {selection}, place_ = 0; }

 private:
  static constexpr std::size_t max_states = 1000;
  std::vector<Selection> states_ = {Selection{}};
  std::size_t place_ = 0;
};

}  // namespace driftscope::gui
