// What rounding may do to the results inside a group that is run in float32 (group_estimate.hpp): the inputs
// that were recorded do not tell, where a function saturates, or where a runtime's own is less accurate than
// ours. Client: derivation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/eval/evaluate.hpp"

namespace driftscope {

/// A copy of a float32 tensor with each number moved by at most one unit in the last place, up or down; zeros
/// and single numbers, which may be exponents or thresholds, are unchanged, as are tensors of other types.
/// `flush`: subnormals become 0, as the engine may read them.
[[nodiscard]] Result<Tensor> disturbed(const Tensor& tensor, std::uint64_t seed, bool flush);

/// Moves the float32 outputs of a node: of one that sums products, and where its bounds cannot be had, by a
/// unit in the last place; of others by up to what the model allows this node alone on these inputs, to NaN
/// where that may be anything. What copies stays.
[[nodiscard]] Status add_rounding_noise(const Node& node, std::span<const Tensor* const> inputs,
                                        const ErrorModel& model, std::uint64_t seed, ThreadPool& threads,
                                        std::vector<Tensor>& outputs);

/// Conv, Gemm, MatMul and the like.
[[nodiscard]] bool sums_products(const Node& node);

}  // namespace driftscope
