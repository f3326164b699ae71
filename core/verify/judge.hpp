// One recorded output of a node with all that is known of it, and the judges that look at it, one after the
// other. A judge is a file in judges/: each FOO.cpp defines `void
// driftscope::judges::foo::add_to(JudgeTable&)`; the table is generated from the folder at configure time,
// never edited. Client: verify.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/numerics/error_model.hpp"
#include "core/verify/derivation.hpp"
#include "core/verify/engine_models.hpp"
#include "core/verify/finding.hpp"
#include "core/verify/layer_verdict.hpp"

namespace driftscope {

struct LayerCase {
  const Graph& graph;
  NodeId id;
  std::size_t output;  ///< which of the node's
  const Derivation& derivation;
  const Derived& derived;  ///< the reference, or why there is none
  const Tensor& got;       ///< what the trace holds
  const RunFacts& run;     ///< of the engine that made it, with its error model
  ThreadPool& threads;

  [[nodiscard]] const Node& node() const { return graph.nodes[id]; }
  [[nodiscard]] ValueId value() const { return node().outputs[output]; }
  /// Values that were not recorded were evaluated together with this one.
  [[nodiscard]] bool in_group() const { return !derived.group.empty(); }
  [[nodiscard]] std::span<const Bounded> reference() const { return derived.reference.real; }
  /// The right output from the inputs alone, for looking for causes: of nodes that compute from their own
  /// recorded output (states of recurrent ones) it is not the reference. Empty for integers. Computed once.
  [[nodiscard]] std::span<const Bounded> right() const;
  /// For each element, in C order, whether it is beyond its bound of `right`, or another integer; empty where
  /// that cannot be told.
  [[nodiscard]] std::vector<std::uint8_t> wrong_elements() const;
  /// The error model for got's type.
  [[nodiscard]] ErrorModel model() const { return error_model_for(run.model, got.dtype()); }
  /// What the node reads, if all of it was recorded or is constant; null otherwise. Read once.
  [[nodiscard]] const DerivationInputs* known_inputs() const;

  mutable std::optional<std::optional<DerivationInputs>> read_inputs = {};  ///< by known_inputs
  mutable std::optional<std::vector<Bounded>> from_inputs = {};  ///< by right; empty: the reference
};

/// Judges a layer, or changes the verdict and findings of those before it.
struct Judge {
  std::string_view id;
  int order;  ///< ascending
  void (*judge)(const LayerCase& layer, LayerVerdict& verdict);
};

class JudgeTable {
 public:
  void add(Judge judge) {
    judges_.insert(std::ranges::upper_bound(judges_, judge.order, {}, &Judge::order), judge);
  }
  [[nodiscard]] std::span<const Judge> judges() const { return judges_; }

 private:
  std::vector<Judge> judges_;
};

/// All of this build (generated: build/generated/judge_registry.cpp).
[[nodiscard]] const JudgeTable& judge_table();

/// The verdict of all judges.
[[nodiscard]] LayerVerdict judged(const LayerCase& layer);

}  // namespace driftscope
