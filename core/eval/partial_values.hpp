// Integer vectors that are only partly known while shapes are inferred: the result of Shape on a
// value with symbolic sizes, moved on by Gather, Concat and the like until a Reshape reads it.
// Client: infer_shapes (which keeps them), shape rules (which read them).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {

/// A number, or the size of an axis.
struct PartialElement {
  std::int64_t number = 0;
  std::optional<Dimension> size;  ///< set: this size, still unknown
  bool operator==(const PartialElement&) const = default;
};

/// A scalar or vector with at most max_partial_elements elements.
struct PartialVector {
  Shape shape;
  std::vector<PartialElement> elements;
};
inline constexpr std::int64_t max_partial_elements = 64;

/// As a shape: non-negative numbers and sizes; nothing if a number is negative.
[[nodiscard]] std::optional<SymbolicShape> as_sizes(const PartialVector& vector);

/// A known int64 or int32 scalar or vector; nothing for others.
[[nodiscard]] std::optional<PartialVector> partial_of(const Tensor& tensor);

/// Output values of a node that only moves the elements of its data inputs (ONNX's Gather, Slice,
/// Concat, Squeeze, Unsqueeze, Reshape, Identity, Split, Cast to int64), found by moving element
/// indices with its own kernel. `data` per input, null where nothing is known; `constants` as in
/// InferContext. Empty for other nodes, or if something that it needs is not known.
[[nodiscard]] std::vector<PartialVector> move_partial(const Node& node,
                                                      std::span<const PartialVector* const> data,
                                                      std::span<const Tensor* const> constants,
                                                      ThreadPool& threads);

}  // namespace driftscope
