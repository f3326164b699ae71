// Client: to_tflite.cpp.
#pragma once

#include "core/convert/tf/tf_graph.hpp"

namespace driftscope::tflite {

/// Operators that only move elements have the same scale and zero point on both sides, whichever side is
/// known.
void spread_quantization(tf::TfGraph& graph);

}  // namespace driftscope::tflite
