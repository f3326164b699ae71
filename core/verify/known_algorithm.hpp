// Correct algorithms whose errors may exceed those of a sum in any order, or of a function
// within 4 ULP: Winograd's convolutions, tanh as 2σ(2x) − 1. One file per kind in algorithms/; the
// table is generated from the folder at configure time (each FOO.cpp defines
// `void driftscope::algorithms::foo::add_to(KnownAlgorithmTable&)`), never edited.
// Client: known_algorithms.cpp, which tries them when a layer exceeds its own budget.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/model/tensor.hpp"
#include "core/numerics/error_model.hpp"

namespace driftscope {

class Derivation;
class ThreadPool;

/// One way to compute some operators. One of `relax`, `reading`, `bias` and `witness` is set.
struct KnownAlgorithm {
  std::string_view id;    ///< in a trace's run: "algorithms": ["winograd-f4x3"]
  std::string_view name;  ///< in sentences: "as by Winograd F(4,3)"
  std::vector<std::string_view> operators;
  /// Changes the rows of the error model that the algorithm concerns; the bounds follow from them.
  void (*relax)(ErrorModel&) = nullptr;
  /// The node as interpreted in another reading of the specification; nothing where they do not differ.
  std::optional<Node> (*reading)(const Node&) = nullptr;
  /// The tensor added in place of the node's input 2; nothing where the algorithm does not apply.
  std::optional<Tensor> (*bias)(const Graph& graph, NodeId node, const Derivation& derivation) = nullptr;
  /// Computes output 0 in float32 by this algorithm (inputs in the order of node.reads(), null where
  /// omitted): its errors on these data are the measure. Nothing where it does not apply.
  std::optional<Tensor> (*witness)(const Node& node, std::span<const Tensor* const> inputs,
                                   ThreadPool& threads) = nullptr;
  /// Only for unknown engines, and only for outputs without any subnormal number.
  bool flushes_results = false;
};

class KnownAlgorithmTable {
 public:
  void add(KnownAlgorithm algorithm) { algorithms_.push_back(std::move(algorithm)); }
  [[nodiscard]] std::span<const KnownAlgorithm> all() const { return algorithms_; }

 private:
  std::vector<KnownAlgorithm> algorithms_;
};

/// All of this build (generated: build/generated/known_algorithm_registry.cpp).
[[nodiscard]] const KnownAlgorithmTable& known_algorithm_table();

}  // namespace driftscope
