// What the ways of computing a Conv have in common. Clients: operators/conv.cpp, the steps of our own
// kernels.
#pragma once

#include "core/lowering/window2d.hpp"

namespace driftscope::fast {

/// A Conv with constant float32 weights.
struct FloatConv {
  ValueId x = no_value;
  Shape x_shape;
  const Tensor* w = nullptr;
  const float* bias = nullptr;  ///< null: none
  lowering::Window2d window;
  std::int64_t groups = 1;
};

}  // namespace driftscope::fast
