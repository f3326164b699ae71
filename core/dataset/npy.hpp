// NumPy's .npy files, versions 1 to 3 (NumPy documentation, numpy.lib.format).
// Clients: the command line (--input), tests.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// Little- and big-endian numbers, C and Fortran order; the result is always row-major. Structured,
/// object and text arrays are rejected.
[[nodiscard]] Result<Tensor> read_npy(std::span<const std::byte> bytes);

/// Version 1, C order, little-endian. bfloat16 and the 4-bit types have no NumPy type: unsupported.
[[nodiscard]] Result<std::vector<std::byte>> write_npy(const Tensor& tensor);

}  // namespace driftscope
