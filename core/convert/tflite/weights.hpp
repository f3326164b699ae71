// Weights and biases of convolutions and products, in TensorFlow Lite's order. Clients: operators/.
#pragma once

#include <span>

#include "core/convert/tflite/builder.hpp"

namespace driftscope::tflite {

/// `value` with its axes in another order: a constant is rewritten (once for all its readers), for any other
/// a TRANSPOSE is added.
[[nodiscard]] Result<TensorIndex> reordered(Builder& builder, const tf::Node& node, const std::string& value,
                                            std::span<const std::size_t> order);

/// The third input of a node, or a constant of zeros: `channels` long, for a quantized result int32.
[[nodiscard]] Result<TensorIndex> bias_of(Builder& builder, const tf::Node& node, std::int64_t channels);

}  // namespace driftscope::tflite
