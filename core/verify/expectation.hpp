// Whether an output is what a conformance case of ONNX expects. Not a verdict: the tolerance is that
// of ONNX's own test runner, so that "passed" means here what it means for every other runtime.
// Client: the conformance command.
#pragma once

#include <optional>
#include <string>

#include "core/model/tensor.hpp"

namespace driftscope {

struct Tolerance {
  double relative = 1e-3;  ///< onnx.backend.test's defaults
  double absolute = 1e-7;
};

/// Nothing when `got` is as expected, else what differs first: dtype, shape, or the first element.
/// Floating elements within absolute + relative·|want|, NaN as NaN; all others bit by bit. bfloat16
/// may be one step off: the cases were cut off where the operator rounds, and ONNX's own runner, which
/// compares their bits as integers with the same tolerance, allows a dozen.
[[nodiscard]] std::optional<std::string> disagreement(const Tensor& got, const Tensor& want,
                                                      const Tolerance& tolerance = {});

}  // namespace driftscope
