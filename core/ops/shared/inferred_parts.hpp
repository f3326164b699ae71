// Shape rules of operators that are several others: the rules of these. Clients: operators of com.microsoft.
#pragma once

#include <string_view>
#include <vector>

#include "core/eval/operator.hpp"

namespace driftscope {

/// Types of all inputs of the node; undefined where omitted.
[[nodiscard]] std::vector<TensorType> all_inputs(const InferContext& context);

/// Types of the outputs of an operator of ONNX's domain with these inputs.
[[nodiscard]] Result<std::vector<TensorType>> infer_part(const InferContext& context,
                                                         std::string_view op_type,
                                                         std::vector<TensorType> inputs,
                                                         std::vector<Attribute> attributes = {},
                                                         std::size_t outputs = 1);

}  // namespace driftscope
