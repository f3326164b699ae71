// How MatMulNBits stores its weights, and what verify asks of it beyond its definition. Clients: the
// operator, its kernel in strict, the GPU engines, the variant of int8 inputs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/ops/shared/packed_bits.hpp"

namespace driftscope {

/// Not an attribute of ONNX Runtime's: with it the bound also covers products with q and with the zero points
/// that are summed apart, as kernels of integers do it, and the storage of the result in this element type.
inline constexpr std::string_view separate_zero_points = "driftscope.separate_zero_points";

/// N rows of K numbers, each in blocks, the last of them padded; numbers are packed from the low bits up.
struct NBitsLayout {
  std::int64_t depth = 0;    // K
  std::int64_t columns = 0;  // N
  std::int64_t bits = 4;
  std::int64_t block = 0;

  [[nodiscard]] std::int64_t blocks() const { return (depth + block - 1) / block; }
  [[nodiscard]] std::int64_t block_bytes() const { return block * bits / 8; }
  /// Zero points of one output, packed.
  [[nodiscard]] std::int64_t zero_bytes() const { return (blocks() * bits + 7) / 8; }
};

/// From the attributes, whose values are checked.
[[nodiscard]] Result<NBitsLayout> read_nbits_layout(const Node& node);

/// By k the block whose scale and zero point it has: k / block, or what `g_idx` says (null: not given).
[[nodiscard]] Result<std::vector<std::int64_t>> nbits_groups(const Tensor* g_idx, const NBitsLayout& layout);

/// The weights one by one as float32: (q − zero point)·scale, rounded as the strict kernel does. It keeps
/// pointers to the tensors, whose sizes were checked by the operator's shape rule.
class NBitsWeights {
 public:
  /// `scales`: float32; `zeros`: packed, float32, or null; `groups`: of nbits_groups.
  NBitsWeights(const NBitsLayout& layout, std::vector<std::int64_t> groups, const Tensor& weights,
               const Tensor& scales, const Tensor* zeros);
  [[nodiscard]] float at(std::int64_t k, std::int64_t n) const {
    const std::int64_t group = groups_[static_cast<std::size_t>(k)];
    return (static_cast<float>(step(k, n)) - zero(group, n)) * scale(group, n);
  }
  [[nodiscard]] std::uint8_t step(std::int64_t k, std::int64_t n) const {
    const std::int64_t block = n * layout_.blocks() + k / layout_.block;
    return bits_.at(block * layout_.block_bytes(), k % layout_.block);
  }
  /// Of a group, as nbits_groups numbers them.
  [[nodiscard]] float zero(std::int64_t group, std::int64_t n) const {
    if (packed_) return packed_zeros_.at(n * layout_.zero_bytes(), group);
    if (zeros_ != nullptr) return zeros_[n * layout_.blocks() + group];
    return static_cast<float>(1 << (layout_.bits - 1));
  }
  [[nodiscard]] float scale(std::int64_t group, std::int64_t n) const {
    return scales_[n * layout_.blocks() + group];
  }

 private:
  NBitsLayout layout_;
  std::vector<std::int64_t> groups_;
  PackedBits bits_;
  PackedBits packed_zeros_;
  const float* scales_;
  const float* zeros_ = nullptr;  // null: packed, or the middle
  bool packed_ = false;
};

}  // namespace driftscope
