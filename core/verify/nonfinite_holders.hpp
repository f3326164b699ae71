// Which values of a run hold NaN or infinity. Clients: nonfinite, overflow.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/graph/graph.hpp"
#include "core/verify/derivation.hpp"
#include "core/verify/layer_verdict.hpp"

namespace driftscope {

class NonFiniteHolders {
 public:
  /// All outlive this.
  NonFiniteHolders(const Graph& graph, const RecordedValues& recorded, std::span<const LayerVerdict> layers);

  /// Layers tell it, inputs and constants are looked at. Nothing for a value that was not recorded.
  [[nodiscard]] std::optional<bool> holds(ValueId id) const;

  /// Whether all that a node reads is finite; of what was not recorded, what that was computed from. False
  /// where it is not known.
  [[nodiscard]] bool reads_finite(const Node& node) const;

  [[nodiscard]] const LayerVerdict* layer(std::string_view output) const;

 private:
  const Graph& graph_;
  const RecordedValues& recorded_;
  std::unordered_map<std::string_view, const LayerVerdict*> layers_;
};

}  // namespace driftscope
