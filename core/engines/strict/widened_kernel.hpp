// Kernels for float16 and bfloat16: the float32 kernel between exact widening of the inputs and one
// rounding of the outputs, as evaluate_strict computes them. Client: prepared_inputs.
#pragma once

#include "core/engines/strict/kernel_table.hpp"

namespace driftscope::strict {

/// What `make` gives for the node with float32 in place of its 16-bit floats; null if it has none, or if that
/// gives nothing. Constants are widened once.
[[nodiscard]] std::unique_ptr<StrictKernel> prepare_widened(const StrictSite& site, PrepareStrictKernel make);

}  // namespace driftscope::strict
