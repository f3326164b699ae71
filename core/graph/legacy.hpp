// Models of ONNX opset 1 to 6, read as opset 7: most operators are what they were, the rest is
// rewritten here or refused by the operator. Client: build.
#pragma once

#include <cstdint>

#include "core/base/result.hpp"
#include "core/model/model.hpp"

namespace driftscope {

/// The version as which a node of the ONNX domain is run: at least 7.
[[nodiscard]] std::int64_t effective_opset(std::int64_t opset);

/// Drops attributes that meant something before opset 7 only: consumed_inputs, is_test,
/// broadcast = 1 without axis (numpy's rule, which opset 7 made the only one). broadcast with axis
/// remains as "axis" of the elementwise operator, which aligns the second input there.
/// Errors (unsupported): a form that has no equal in opset 7.
[[nodiscard]] Status modernize(ModelNode& node, std::int64_t opset);

}  // namespace driftscope
