// The first test of lower_precision.hpp for all but single recorded sums of products: a fused group (Conv
// + Relu, MatMul + Add), a ConvTranspose. The whole group is run in plain float32 once as it is
// and once with the factors of every product rounded; the difference is the hypothesis. It carries the
// roundings of both runs, so it is conclusive less often than the exact one. Client: long_sums.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "core/model/tensor.hpp"
#include "core/numerics/bounded.hpp"
#include "core/verify/finding.hpp"

namespace driftscope {

/// The output in plain float32, with the function (if any) applied to the factors of every product;
/// nothing if it cannot be run.
using GroupRun = std::function<std::optional<Tensor>(const std::function<float(float)>& of_factors)>;

/// Nothing if the errors are not those of rounded factors.
[[nodiscard]] std::optional<Finding> find_rounded_group(const GroupRun& run,
                                                        std::span<const Bounded> reference,
                                                        std::span<const float> got);

}  // namespace driftscope
