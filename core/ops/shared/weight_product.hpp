// A matrix product whose weights are decoded while it runs: A [rows, K] times weights of K × N numbers that
// are stored in a few bits. Clients: MatMulNBits, MatMulBnb4, MoE and QMoE.
//
// Strict definition (float): a weight is decoded to float32 (one rounding); each output is one accumulator
// from +0, k ascending; then the bias is added. The bound covers products of decoded weights, of which each
// is rounded, and sums of blocks that are scaled afterwards.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/eval/kernel_context.hpp"
#include "core/numerics/dot.hpp"
#include "core/numerics/math.hpp"

namespace driftscope {

/// steps · scale, without the rounding of a product where scale is exact: the sums allow for it.
template <class S>
[[nodiscard]] S decoded_weight(const S& steps, const S& scale) {
  if constexpr (std::is_same_v<S, Bounded>)
    if (steps.worst == 0.0 && scale.worst == 0.0) return Bounded(steps.value * scale.value);
  return steps * scale;
}

/// y [rows, columns] = a [rows, depth] · weights, plus `shift` by column, if any. `weight(n, k)` is an S
/// without error if `exact`.
template <class S, class Weight>
void multiply_rows(const KernelThreads& threads, std::span<const S> a, std::span<S> y, std::int64_t depth,
                   std::int64_t columns, bool exact, std::span<const S> shift, const Weight& weight) {
  if (y.empty()) return;
  const std::int64_t rows = static_cast<std::int64_t>(y.size()) / columns;
  // Looked at as the second factor: weights with errors need sums with errors.
  const S inexact = [] {
    if constexpr (std::is_same_v<S, Bounded>) return Bounded(0.0, 1.0, 1.0);
    return S(0);
  }();
  const std::span<const S> kind = exact ? std::span<const S>() : std::span<const S>(&inexact, 1);
  with_dot_elements<S>(a, kind, [&]<class Sums>(const auto* left, const auto*) {
    using Element = typename Sums::Element;
    const std::int64_t blocks = (columns + dot_block - 1) / dot_block;
    threads.parallel_for(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      Sums sums(std::min(columns, dot_block));
      std::vector<Element> decoded(static_cast<std::size_t>(depth * std::min(columns, dot_block)));
      for (std::int64_t block = begin; block < end; ++block) {
        const std::int64_t first = block * dot_block;
        const std::int64_t width = std::min(dot_block, columns - first);
        for (std::int64_t j = 0; j < width; ++j)
          for (std::int64_t k = 0; k < depth; ++k) {
            Element& to = decoded[static_cast<std::size_t>(k * width + j)];
            if constexpr (std::is_same_v<Element, S>)
              to = weight(first + j, k);
            else
              to = math::value(weight(first + j, k));
          }
        for (std::int64_t row = 0; row < rows; ++row) {
          sums.clear();
          if constexpr (!std::is_same_v<S, float>)
            for (std::int64_t j = 0; j < width; ++j) {
              if (!shift.empty()) sums.start(j, shift[static_cast<std::size_t>(first + j)]);
              if constexpr (std::is_same_v<S, Bounded>) {
                sums.round_once_more(j);
                sums.round_once_more(j);
              }
            }
          add_matrix_row(sums, left + row * depth, 1, decoded.data(), width, 1, depth, width);
          for (std::int64_t j = 0; j < width; ++j) {
            S result = sums.result(j, depth);
            if constexpr (std::is_same_v<S, float>)
              if (!shift.empty()) result = result + shift[static_cast<std::size_t>(first + j)];
            y[static_cast<std::size_t>(row * columns + first + j)] = result;
          }
        }
      }
    });
  });
}

/// Output 0 = input 0 · weights (+ input `bias`).
template <class S, class Weight>
void multiply_weights(const KernelContext<S>& context, std::int64_t depth, std::int64_t columns, bool exact,
                      std::optional<std::size_t> bias, const Weight& weight) {
  multiply_rows(context, context.real(0), context.real_output(0), depth, columns, exact,
                bias && context.has_input(*bias) ? context.real(*bias) : std::span<const S>(), weight);
}

}  // namespace driftscope
