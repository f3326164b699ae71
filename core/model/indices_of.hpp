// Index tensors as vectors. Clients: operators, shape inference, engines.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/tensor.hpp"

namespace driftscope {

/// The elements of an int32 or int64 tensor of any rank; empty for other types.
[[nodiscard]] std::vector<std::int64_t> indices_of(const Tensor& tensor);

}  // namespace driftscope
