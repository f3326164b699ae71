// A matrix of all experts of a MoE or QMoE, and products with it. Client: the operators.
#pragma once

#include <cstdint>
#include <span>

#include "core/model/element.hpp"
#include "core/ops/shared/moe.hpp"
#include "core/ops/shared/packed_bits.hpp"
#include "core/ops/shared/rounded_activations.hpp"
#include "core/ops/shared/weight_product.hpp"

namespace driftscope {

/// The elements of a floating input, read as they are stored where they are known: there are many, of which
/// few are used.
template <class S>
class StoredNumbers {
 public:
  StoredNumbers(const KernelContext<S>& context, std::size_t input) {
    const Tensor* tensor = context.exact(input);
    if (tensor != nullptr && tensor->dtype() == DType::float32)
      floats_ = tensor->template values<float>();
    else if (tensor != nullptr && tensor->dtype() != DType::float64)
      halves_ = tensor->template values<std::uint16_t>();
    else
      reals_ = context.real(input);
    if (tensor != nullptr && tensor->dtype() == DType::bfloat16) format_ = Element<DType::bfloat16>::format;
  }

  [[nodiscard]] S operator[](std::size_t i) const {
    if (!floats_.empty()) return S(floats_[i]);
    if (!halves_.empty()) return math::exact<S>(widen(format_, halves_[i]));
    return reals_[i];
  }
  [[nodiscard]] bool exact() const { return !math::has_error(reals_); }

 private:
  std::span<const float> floats_;
  std::span<const std::uint16_t> halves_;
  SmallFloat format_ = Element<DType::float16>::format;
  std::span<const S> reals_;
};

/// One of the three matrices, of all experts.
template <class S>
class ExpertWeights {
 public:
  ExpertWeights(const KernelContext<S>& context, const ExpertOptions& options, std::size_t fc,
                std::int64_t rows, std::int64_t depth)
      : ExpertWeights(context, expert_matrix(context.node(), fc), options.bits[fc], options, rows, depth) {}

  /// y [rows of a, rows] = a […, depth] · the expert's matrix + its bias. Rounds a if the options say so.
  void multiply(const KernelContext<S>& context, std::int64_t expert, std::span<S> a, std::span<S> y) const {
    if constexpr (std::is_same_v<S, Bounded>)
      for (std::size_t at = 0; rounded_ > 0 && at < a.size(); at += static_cast<std::size_t>(depth_))
        round_to_int8(a.subspan(at, static_cast<std::size_t>(depth_)), static_cast<std::size_t>(rounded_));
    const auto rows = static_cast<std::size_t>(rows_);
    const std::span<const S> shift =
        bias_.empty() ? bias_ : bias_.subspan(static_cast<std::size_t>(expert) * rows, rows);
    multiply_rows(context, std::span<const S>(a), y, depth_, rows_, exact_, shift,
                  [&](std::int64_t n, std::int64_t k) { return at(expert, n, k); });
    if constexpr (std::is_same_v<S, Bounded>)
      if (tabled_) allow_tables(expert, a, y);
  }

 private:
  ExpertWeights(const KernelContext<S>& context, const ExpertMatrix& matrix, std::int64_t bits,
                const ExpertOptions& options, std::int64_t rows, std::int64_t depth)
      : numbers_(context, bits == 0 ? matrix.weights : matrix.scales),
        steps_(bytes(context, matrix.weights, bits), bits == 0 ? 8 : bits),
        zeros_(bytes(context, matrix.zeros, bits), bits == 0 ? 8 : bits),
        bits_(bits),
        rows_(rows),
        depth_(depth),
        has_zeros_(bits != 0 && context.has_input(matrix.zeros)),
        rounded_(options.rounded),
        tabled_(options.tabled && bits == 2),
        exact_(numbers_.exact() && rounded_ == 0) {
    if (context.has_input(matrix.bias)) bias_ = context.real(matrix.bias);
    if (bits == 0) return;
    zeros_by_row_ = options.block == 0 || context.shape(matrix.scales).size() == 2;
    block_ = zeros_by_row_ ? depth : options.block;
    blocks_ = zeros_by_row_ ? 1 : (depth + block_ - 1) / block_;
  }

  void allow_tables(std::int64_t expert, std::span<const Bounded> a, std::span<Bounded> y) const {
    const double lambda = current_error_model().lambda(depth_);
    for (std::size_t row = 0; row * static_cast<std::size_t>(rows_) < y.size(); ++row) {
      std::vector<TableError> errors;
      for (std::int64_t k = 0; k < depth_; k += block_)
        errors.emplace_back(a.subspan(row * static_cast<std::size_t>(depth_) + static_cast<std::size_t>(k),
                                      static_cast<std::size_t>(std::min(block_, depth_ - k))));
      for (std::size_t n = 0; n < static_cast<std::size_t>(rows_); ++n) {
        double worst = 0.0;
        double variance = 0.0;
        for (std::size_t block = 0; block < errors.size(); ++block) {
          const S scale = numbers_[(static_cast<std::size_t>(expert * rows_) + n) * errors.size() + block];
          worst += std::fabs(scale.value) * errors[block].worst;
          variance += scale.value * scale.value * errors[block].variance;
        }
        const double likely = std::fmin(worst, lambda * std::sqrt(variance));
        Bounded& to = y[row * static_cast<std::size_t>(rows_) + n];
        to = {to.value, to.worst + worst, to.likely + likely, to.systematic + likely};
      }
    }
  }

  static std::span<const std::uint8_t> bytes(const KernelContext<S>& context, std::size_t input,
                                             std::int64_t bits) {
    if (bits == 0 || !context.has_input(input)) return {};
    return context.tensor(input).template values<std::uint8_t>();
  }

  [[nodiscard]] S at(std::int64_t expert, std::int64_t n, std::int64_t k) const {
    const std::int64_t row = expert * rows_ + n;
    if (bits_ == 0) return numbers_[static_cast<std::size_t>(row * depth_ + k)];
    const std::int64_t block = k / block_;
    std::int64_t zero = std::int64_t{1} << (bits_ - 1);
    if (has_zeros_)
      zero = zeros_by_row_ ? zeros_.at(expert * ((rows_ * bits_ + 7) / 8), n)
                           : zeros_.at(row * ((blocks_ * bits_ + 7) / 8), block);
    const std::int64_t step = steps_.at(row * (depth_ * bits_ / 8), k);
    const S scale = numbers_[static_cast<std::size_t>(row * blocks_ + block)];
    S weight = decoded_weight(math::exact<S>(static_cast<double>(step - zero)), scale);
    if constexpr (std::is_same_v<S, Bounded>)
      if (rounded_ > 0) {
        const double apart = 4.0 * current_error_model().unit_roundoff * std::fabs(scale.value) *
                             static_cast<double>(step + zero);
        weight = {weight.value, weight.worst + apart, weight.likely + apart, weight.systematic + apart};
      }
    return weight;
  }

  StoredNumbers<S> numbers_;  // the weights, or their scales
  PackedBits steps_;
  PackedBits zeros_;
  std::span<const S> bias_;
  std::int64_t bits_;
  std::int64_t rows_;
  std::int64_t depth_;
  std::int64_t block_ = 1;
  std::int64_t blocks_ = 1;
  bool has_zeros_;
  std::int64_t rounded_;
  bool tabled_;
  bool exact_;
  bool zeros_by_row_ = false;
};

}  // namespace driftscope
