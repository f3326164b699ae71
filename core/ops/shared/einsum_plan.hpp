// Reads an Einsum equation against the shapes of its operands. Client: Einsum. It computes nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

/// Labels are numbered; each axis of an ellipsis has a label of its own, aligned at the end.
struct EinsumLabels {
  std::vector<std::vector<std::size_t>> operands;  ///< per operand, the label of each axis
  std::vector<std::size_t> output;
  std::vector<std::size_t> summed;  ///< in the order in which they first appear
  std::vector<Dimension> sizes;     ///< per label; unknown where no operand defines it
};

[[nodiscard]] Result<EinsumLabels> label_einsum(const Node& node, std::span<const SymbolicShape> shapes);

/// For concrete shapes: sizes, and how far each operand moves along each label.
struct EinsumPlan {
  Shape output;
  Shape summed;
  std::int64_t terms = 1;             ///< of each sum
  std::vector<Shape> output_strides;  ///< per operand, per axis of the output
  std::vector<Shape> summed_strides;
};

[[nodiscard]] Result<EinsumPlan> plan_einsum(const Node& node, std::span<const Shape> shapes);

}  // namespace driftscope
