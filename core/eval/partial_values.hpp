// Integer vectors of which not everything is known while shapes are inferred: what Shape makes of a
// value with symbolic sizes, moved on by Gather, Concat and their kind until a Reshape reads it.
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
  std::optional<Dimension> size;  ///< set: this size, which is not known
  bool operator==(const PartialElement&) const = default;
};

/// A scalar or vector with at most max_partial_elements elements.
struct PartialVector {
  Shape shape;
  std::vector<PartialElement> elements;
};
inline constexpr std::int64_t max_partial_elements = 64;

/// As a shape: numbers of 0 and more and sizes; nothing where a number is negative.
[[nodiscard]] std::optional<SymbolicShape> as_sizes(const PartialVector& vector);

/// A known int64 or int32 scalar or vector; nothing for others.
[[nodiscard]] std::optional<PartialVector> partial_of(const Tensor& tensor);

/// Output values of a node that only moves the elements of its data inputs (ONNX's Gather, Slice,
/// Concat, Squeeze, Unsqueeze, Reshape, Identity, Split, Cast to int64), found by moving numbers of
/// elements with its own kernel. `data` per input, null where nothing is known; `constants` as in
/// InferContext. Empty when the node is no such, or something that it needs is not known.
[[nodiscard]] std::vector<PartialVector> move_partial(const Node& node,
                                                      std::span<const PartialVector* const> data,
                                                      std::span<const Tensor* const> constants,
                                                      ThreadPool& threads);

}  // namespace driftscope
