#include "core/ops/shared/matmul_nbits.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/domains.hpp"

namespace driftscope {

Result<NBitsLayout> read_nbits_layout(const Node& node) {
  NBitsLayout layout;
  DRIFTSCOPE_TRY(layout.depth, required_int(node, "K", 1));
  DRIFTSCOPE_TRY(layout.columns, required_int(node, "N", 1));
  DRIFTSCOPE_TRY(layout.block, required_int(node, "block_size", 1));
  DRIFTSCOPE_TRY(layout.bits, int_attribute(node, "bits", 4));
  DRIFTSCOPE_TRY(const std::int64_t prepacked, int_attribute(node, "weight_prepacked", 0));
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (layout.depth > most || layout.columns > most || layout.block > most)
    return limit_error(fmt::format("attributes K {}, N {}, block_size {}: more than {} are not supported",
                                   layout.depth, layout.columns, layout.block, most));
  if (layout.block < 16 || (layout.block & (layout.block - 1)) != 0)
    return bad_input(
        fmt::format("attribute block_size: expected a power of 2 of at least 16, got {}", layout.block));
  if (layout.bits < 1 || layout.bits > 8)
    return bad_input(fmt::format("attribute bits: expected 2, 4 or 8, got {}", layout.bits));
  if (layout.bits != 2 && layout.bits != 4 && layout.bits != 8)
    return unsupported(fmt::format("MatMulNBits of {} bits: only 2, 4 and 8 are known here", layout.bits));
  if (prepacked != 0)
    return unsupported("MatMulNBits with weight_prepacked: the layout is one runtime's own");
  return layout;
}

Result<std::vector<std::int64_t>> nbits_groups(const Tensor* g_idx, const NBitsLayout& layout) {
  std::vector<std::int64_t> groups(static_cast<std::size_t>(layout.depth));
  for (std::int64_t k = 0; k < layout.depth; ++k)
    groups[static_cast<std::size_t>(k)] =
        g_idx == nullptr ? k / layout.block : g_idx->values<std::int32_t>()[static_cast<std::size_t>(k)];
  for (std::size_t k = 0; k < groups.size(); ++k)
    if (groups[k] < 0 || groups[k] >= layout.blocks())
      return bad_input(fmt::format("input 4 (g_idx): element {} is {}, there are blocks 0 to {}", k,
                                   groups[k], layout.blocks() - 1));
  return groups;
}

NBitsWeights::NBitsWeights(const NBitsLayout& layout, std::vector<std::int64_t> groups, const Tensor& weights,
                           const Tensor& scales, const Tensor* zeros)
    : layout_(layout),
      groups_(std::move(groups)),
      bits_(weights.values<std::uint8_t>(), layout.bits),
      packed_zeros_({}, layout.bits),
      scales_(scales.values<float>().data()) {
  if (zeros == nullptr) return;
  packed_ = zeros->dtype() == DType::uint8;
  if (packed_)
    packed_zeros_ = PackedBits(zeros->values<std::uint8_t>(), layout.bits);
  else
    zeros_ = zeros->values<float>().data();
}

}  // namespace driftscope
