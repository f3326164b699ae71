// Types of what nodes make, for files that say them of inputs and constants only (graph models of
// TensorFlow.js). Client: the maker.
#pragma once

#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_parts {

/// Of the outputs; undefined where it follows from nothing that is known.
[[nodiscard]] DType result_type(const Maker& maker, const Node& node, std::size_t output);

}  // namespace driftscope::tf::to_onnx_parts
