// A tensor's bits as two 64-bit numbers, to decide whether two runs computed the same without keeping the
// values of both. Client: repeat_check. It detects accidental differences, not forgeries.
#pragma once

#include <cstdint>

#include "core/model/tensor.hpp"

namespace driftscope {

struct TensorDigest {
  DType dtype = DType::undefined;
  Shape shape;
  std::uint64_t bits = 0;            ///< all NaNs are one
  std::uint64_t unsigned_zeros = 0;  ///< the same where +0 and −0 are one as well

  [[nodiscard]] bool operator==(const TensorDigest&) const = default;
  /// Equal but for signs of zeros.
  [[nodiscard]] bool same_numbers(const TensorDigest& other) const {
    return dtype == other.dtype && shape == other.shape && unsigned_zeros == other.unsigned_zeros;
  }
};

[[nodiscard]] TensorDigest digest_of(const Tensor& tensor);

}  // namespace driftscope
