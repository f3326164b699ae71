// Domains of operators beside ONNX's own, and the checks that their shape rules share. Their files say "" or
// "com.microsoft"; what an operator of ONNX Runtime's computes is in its page ContribOperators and
// kernels. Clients: the operators of com.microsoft.
#pragma once

#include <string_view>

#include "core/eval/operator.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope {

inline constexpr std::string_view microsoft_domain = "com.microsoft";

/// Input `index`, if given, has this shape as far as both are known.
[[nodiscard]] Status expect_shape(const InferContext& context, std::size_t index, std::string_view name,
                                  const SymbolicShape& expected);
/// It has so many elements, in whatever shape.
[[nodiscard]] Status expect_elements(const InferContext& context, std::size_t index, std::string_view name,
                                     std::int64_t expected, std::string_view why);
/// It is of one of these types, or not known yet.
[[nodiscard]] Status expect_dtype(const InferContext& context, std::size_t index, std::string_view name,
                                  std::initializer_list<DType> allowed);

/// These inputs are given, also where others before them may be omitted.
[[nodiscard]] Status expect_given(const InferContext& context, std::initializer_list<std::size_t> inputs,
                                  std::span<const std::string_view> names);

/// An attribute that has to be given, and at least `min`.
[[nodiscard]] Result<std::int64_t> required_int(const Node& node, std::string_view name, std::int64_t min);

/// Dimension `axis` of input `index`, unknown where that is.
[[nodiscard]] Dimension dimension_of(const InferContext& context, std::size_t index, std::size_t axis);

/// The output has the type and shape of input 0.
[[nodiscard]] Result<std::vector<TensorType>> like_input(const InferContext& context);

}  // namespace driftscope
