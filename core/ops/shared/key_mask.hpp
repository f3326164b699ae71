// Masks of keys in ONNX Runtime's attention operators, int32: [batch] ends of the keys; [2·batch] ends, then
// starts; [batch, keys] and [batch, queries, keys], 0 for a masked key. A masked key's score gets
// mask_filter_value. Clients: MultiHeadAttention, Attention, QAttention.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <span>

#include "core/ops/shared/attention.hpp"
#include "core/ops/shared/domains.hpp"

namespace driftscope {

/// The sum and the product of sizes as far as they are known; a model may declare sizes that overflow.
[[nodiscard]] inline Dimension sum_of_sizes(const Dimension& a, const Dimension& b) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  return a.known() && b.known() && a.size <= largest - b.size ? known_dimension(a.size + b.size)
                                                              : Dimension{};
}
[[nodiscard]] inline Dimension times(const Dimension& size, std::int64_t count) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  return size.known() && size.size <= largest / count ? known_dimension(size.size * count) : Dimension{};
}

class KeyMask {
 public:
  KeyMask() = default;
  KeyMask(const Tensor& mask, const AttentionSizes& sizes)
      : values_(mask.values<std::int32_t>()), rank_(mask.rank()), sizes_(sizes) {
    has_starts_ = rank_ == 1 && mask.shape()[0] == 2 * sizes.batch;
    if (rank_ == 4) side_ = mask.shape()[3];
  }

  [[nodiscard]] bool masks(const ScorePlace& at) const {
    const auto value = [&](std::int64_t i) { return values_[static_cast<std::size_t>(i)]; };
    switch (rank_) {
      case 1: return at.key >= value(at.batch) || (has_starts_ && at.key < value(sizes_.batch + at.batch));
      case 2: return value(at.batch * sizes_.keys + at.key) == 0;
      case 3: return value((at.batch * sizes_.queries + at.query) * sizes_.keys + at.key) == 0;
      // Of [batch, 1, longest, longest] the rows of the new positions.
      case 4:
        return value((at.batch * side_ + sizes_.keys - sizes_.queries + at.query) * side_ + at.key) == 0;
      default: return false;
    }
  }

 private:
  std::span<const std::int32_t> values_;
  std::size_t rank_ = 0;
  AttentionSizes sizes_;
  bool has_starts_ = false;
  std::int64_t side_ = 0;
};

/// Input `index` is one of these masks. A size of -1 is not known yet.
[[nodiscard]] inline Status expect_key_mask(const InferContext& context, std::size_t index,
                                            std::string_view name, const Dimension& batch,
                                            const Dimension& queries, const Dimension& keys) {
  DRIFTSCOPE_CHECK(expect_dtype(context, index, name, {DType::int32}));
  if (!context.has_input(index) || !context.input(index).shape) return {};
  const SymbolicShape& mask = *context.input(index).shape;
  switch (mask.size()) {
    case 1: {
      if (!batch.known() || !mask[0].known() || mask[0].size == batch.size ||
          mask[0].size == times(batch, 2).size)
        return {};
      if (mask[0].size == sum_of_sizes(times(batch, 3), known_dimension(2)).size)
        return unsupported(fmt::format("{} of 3 · batch + 2 elements is not known here", name));
      return bad_input(fmt::format("{}: expected {} or {} elements (batch {}), got {}",
                                   input_label(index, name), batch.size, times(batch, 2).size, batch.size,
                                   mask[0].size));
    }
    case 2: return expect_shape(context, index, name, {batch, keys});
    case 3: return expect_shape(context, index, name, {batch, queries, keys});
    case 4:
      DRIFTSCOPE_CHECK(expect_shape(context, index, name, {batch, known_dimension(1), mask[2], mask[2]}));
      // Its last rows are those of the queries.
      if (keys.known() && queries.known() && keys.size < queries.size)
        return bad_input(fmt::format("{}: four axes need at least as many keys as queries, got {} and {}",
                                     input_label(index, name), keys.size, queries.size));
      if (mask[2].known() && keys.known() && mask[2].size < keys.size)
        return bad_input(fmt::format("{}: expected at least {} rows and columns (keys), got {}",
                                     input_label(index, name), keys.size, mask[2].size));
      return {};
    default:
      return bad_input(
          fmt::format("{}: expected 1 to 4 axes, got shape {}", input_label(index, name), shape_text(mask)));
  }
}

/// Input `index`, added to the scores: [batch or 1, heads or 1, queries, keys].
[[nodiscard]] inline Status expect_attention_bias(const InferContext& context, std::size_t index,
                                                  const Dimension& batch, const Dimension& heads,
                                                  const Dimension& queries, const Dimension& keys) {
  DRIFTSCOPE_CHECK(expect_kind(context, index, "attention_bias", Kinds::floating));
  if (!context.has_input(index) || !context.input(index).shape) return {};
  const SymbolicShape& shape = *context.input(index).shape;
  const auto one_or = [&](std::size_t axis, const Dimension& size) {
    return shape.size() == 4 && shape[axis].size == 1 ? known_dimension(1) : size;
  };
  return expect_shape(context, index, "attention_bias", {one_or(0, batch), one_or(1, heads), queries, keys});
}

/// The elements of such an input.
template <class S>
class AttentionBias {
 public:
  AttentionBias(const KernelContext<S>& context, std::size_t index)
      : shape_(context.shape(index)), values_(context.real(index)) {}
  [[nodiscard]] const S& at(const ScorePlace& place) const {
    const std::int64_t b = shape_[0] == 1 ? 0 : place.batch;
    const std::int64_t h = shape_[1] == 1 ? 0 : place.head;
    return values_[static_cast<std::size_t>(((b * shape_[1] + h) * shape_[2] + place.query) * shape_[3] +
                                            place.key)];
  }

 private:
  Shape shape_;
  std::span<const S> values_;
};

}  // namespace driftscope
