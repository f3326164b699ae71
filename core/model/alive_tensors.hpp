// How many tensors exist: a run that leaves more than there were before it leaks.
// Client: the service's measuring. The count is kept by Tensor itself.
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
/// runs out; 0: no limit.
void limit_alive_tensors(std::int64_t bytes);

}  // namespace driftscope
