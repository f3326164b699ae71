// How many tensors exist, and how much memory they may take. Kept by Tensor itself. Clients: the service's
// measuring (a run that leaves more than there were before it leaks), the hosts, which know how much memory
// there is, and what grows with a model without being a tensor (onnx_functions.cpp).
#pragma once

#include <cstdint>

namespace driftscope {

/// Buffers of tensors that exist in this process now; views of one buffer count once.
struct AliveTensors {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};
[[nodiscard]] AliveTensors alive_tensors();

/// From here on, a tensor that would make them take more than `bytes` together is refused, as when memory
/// runs out; 0: no limit. `setting`: what a person changes to allow more, for messages; a literal.
void limit_alive_tensors(std::int64_t bytes, const char* setting);

/// What tensors may still take, at least 0; the largest number without a limit.
[[nodiscard]] std::int64_t tensor_bytes_left();

}  // namespace driftscope
