// Building blocks of shape rules: dimensions that may be unknown or symbols, element types,
// broadcasting. Clients: the shape rules in ops/. Messages name an input by number and ONNX name.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/eval/operator.hpp"

namespace driftscope {

/// "input 1 (W)".
[[nodiscard]] std::string input_label(std::size_t index, std::string_view name);

[[nodiscard]] inline Dimension known_dimension(std::int64_t size) { return {size, ""}; }
[[nodiscard]] SymbolicShape symbolic_shape(std::span<const std::int64_t> shape);
/// `rank` unknown dimensions.
[[nodiscard]] SymbolicShape unknown_shape(std::size_t rank);
[[nodiscard]] std::optional<Shape> concrete_shape(const std::optional<SymbolicShape>& shape);

/// One size from two sources; nothing when they contradict each other.
[[nodiscard]] std::optional<Dimension> unify(const Dimension& a, const Dimension& b);

/// The product; a symbol survives if all other factors are 1; a known 0 makes it 0.
/// Error: the product does not fit in 64 bits.
[[nodiscard]] Result<Dimension> multiply(std::span<const Dimension> dimensions);

/// Multidirectional broadcasting (ONNX specification, "Broadcasting in ONNX").
[[nodiscard]] Result<SymbolicShape> broadcast(const SymbolicShape& a, const SymbolicShape& b);

/// Element types an input may have.
enum class Kinds {
  floating,  ///< float16, bfloat16, float32, float64
  integer,   ///< integers of 8 bits and more
  unsigned_integer,
  boolean,
  numeric,  ///< floating and integer
  numeric_or_bool,
  fixed_size,  ///< all but strings
};

/// The type is one of `kinds`, or not known yet.
[[nodiscard]] Status expect_kind(const InferContext& context, std::size_t index, std::string_view name,
                                 Kinds kinds);
/// The attribute, of an opset later than the kernel's own, is absent or 0, its default; else unsupported.
[[nodiscard]] Status expect_default(const InferContext& context, std::string_view attribute);
/// All given inputs have one element type; the result is that type, undefined when none is known.
[[nodiscard]] Result<DType> common_dtype(const InferContext& context,
                                         std::span<const std::string_view> names);
/// The rank is between min and max, or not known yet.
[[nodiscard]] Status expect_rank(const InferContext& context, std::size_t index, std::string_view name,
                                 std::size_t min, std::size_t max);

/// The integers of a constant tensor of rank 0 or 1 (int64 or int32).
[[nodiscard]] Result<std::vector<std::int64_t>> integers_of(const Tensor& tensor, const std::string& label);

}  // namespace driftscope
