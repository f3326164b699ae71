// MNIST's IDX format: big-endian header, then unsigned bytes. Client: dataset.
// Source: http://yann.lecun.com/exdb/mnist/, "FILE FORMATS FOR THE MNIST DATABASE".
#pragma once

#include <cstddef>
#include <span>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// The array as uint8, with the shape of the header. Other element types, compressed files and a
/// length that is not exactly that of the shape are errors.
[[nodiscard]] Result<Tensor> read_idx(std::span<const std::byte> bytes);

}  // namespace driftscope
