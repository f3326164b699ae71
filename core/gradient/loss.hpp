// Where differentiation starts: the number that is differentiated, and its gradient. Client: gradient.cpp.
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/gradient/emitter.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

struct Loss {
  ValueId root = no_value;  ///< what the loss is computed of: logits, or an output
  std::string gradient;     ///< of the loss with respect to it
  std::string name;         ///< of the loss, a scalar
  std::string logits;       ///< "" of the sum of an output
  std::int64_t classes = 0;
};

/// What the Softmax that makes this value reads, where there is one along the classes of rows; else the
/// value, without Identity before it: the logarithm of probabilities would overflow where logits do not.
[[nodiscard]] Result<ValueId> logits_of(const Graph& graph, ValueId id);

/// Adds the loss to the model's graph, with its input `label` (and `other`). `of`: as GradientRequest has it.
[[nodiscard]] Result<Loss> add_loss(const Graph& graph, const std::string& of, ModelGraph& model,
                                    GradientEmitter& emit);

}  // namespace driftscope
