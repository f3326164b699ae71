// A quantized convolution of the graph as a step of the plan (int8_row_convolution.hpp). Client:
// operators/quantized_conv.cpp.
#pragma once

#include "core/engines/fast/int8_row_convolution.hpp"
#include "core/engines/fast/lowering.hpp"

namespace driftscope::fast {

struct Int8Conv {
  ValueId x = no_value;
  RowWindow window;
  const Tensor* w = nullptr;  ///< int8, as in ONNX
  std::vector<std::int32_t> bias;
  std::vector<float> scales;  ///< what a sum of each output is multiplied by
  Int8Form x_form;
  Int8Result y_form;
  ValueId y = no_value;
};

/// False where memory is short.
[[nodiscard]] Result<bool> place_int8_rows(Lowering& lowering, const Int8Conv& conv);

}  // namespace driftscope::fast
