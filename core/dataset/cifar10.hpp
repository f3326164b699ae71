// CIFAR-10's binary version: records of one label byte and 32×32 pixels, a red, a green and a blue
// plane. Client: dataset. Source: https://www.cs.toronto.edu/~kriz/cifar.html, "Binary version".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

struct Cifar10 {
  Tensor images;  ///< N×3×32×32, uint8, RGB
  std::vector<std::int64_t> labels;
};

/// A file that is not a whole number of records, or a label above 9, is an error.
[[nodiscard]] Result<Cifar10> read_cifar10(std::span<const std::byte> bytes);

}  // namespace driftscope
