// Sums that later nodes continue. An engine that computes a convolution or a product together with
// the Add or BatchNormalization after it may start the sum from the skip connection or the shift of the
// normalisation, with weights that contain its scale. Then every partial sum may be as large as that
// start, and its roundings as well, which node-by-node bounds do not cover.
// Clients: Derivation, for nodes whose sum was not recorded. It evaluates the node that continues the sum
// twice more; it knows no operator's formula.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/eval/evaluate.hpp"
#include "core/graph/graph.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {

/// A value that is a sum of products, element by element.
struct ContinuedSum {
  Evaluated<Bounded> magnitude;  ///< Σ|terms|, exact numbers
  std::int64_t terms = 0;        ///< of one element, at most
};

/// Whether the node is a sum of products that others may continue.
[[nodiscard]] bool makes_sum(const Node& node);

/// Whether the node adds to its input `input`, or scales it, by numbers that do not depend on it:
/// `known_others` says that all its other inputs were recorded or are constant.
[[nodiscard]] bool continues_sum(const Node& node, std::size_t input, bool known_others);

/// For the output of a node that computes a sum; nothing if it cannot be determined.
[[nodiscard]] std::optional<ContinuedSum> sum_of(const Node& node,
                                                 std::span<const Evaluated<Bounded>* const> inputs,
                                                 const ErrorModel& model, ThreadPool& threads);

/// Widens the bounds of `output`, which the node computed from the sum at `input`, to every order of the
/// terms and of the node's additions, with the weights scaled and rounded once before. Returns the new sum.
[[nodiscard]] std::optional<ContinuedSum> continue_sum(const Node& node, std::size_t input,
                                                       const ContinuedSum& sum,
                                                       std::span<const Evaluated<Bounded>* const> inputs,
                                                       Evaluated<Bounded>& output, const ErrorModel& model,
                                                       ThreadPool& threads);

}  // namespace driftscope
