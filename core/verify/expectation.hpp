// Whether an output is what an ONNX conformance case expects. Not a verdict: the tolerance is that
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

/// Nothing when `got` is as expected, else the first difference: dtype, shape, or an element.
/// Floating elements within absolute + relative·|want|, NaN as NaN; all others bit by bit. bfloat16
/// may differ by one step: the expected values were truncated where the operator rounds; ONNX's own runner,
/// which compares their bits as integers with the same tolerance, allows a dozen.
[[nodiscard]] std::optional<std::string> disagreement(const Tensor& got, const Tensor& want,
                                                      const Tolerance& tolerance = {});

}  // namespace driftscope
