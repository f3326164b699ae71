// LiteRT.js passes tensors of float32, int32 and uint8. Client: to_tflite.cpp.
#pragma once

#include "core/convert/tf/from_onnx.hpp"

namespace driftscope::tflite {

/// Gives inputs and outputs of other types a Cast to int32 (bool, small integers) or float32 (float16) beside
/// them, and quantized outputs of int8 a uint8 one, whose tensors `lowered.values` then names.
void exchange_plain_types(tf::Lowered& lowered);

}  // namespace driftscope::tflite
