// The sums behind the gates of a recurrent cell: biases + W·x + R·h for all gates side by side, for
// each scalar. Clients: RNN, GRU, LSTM.
//   GateSums<float>    strict: an accumulator per gate element that starts at Wb + Rb (rounded
//   once)
//                      and adds the products of x, then those of h, k ascending
//   GateSums<double>   the value
//   GateSums<Bounded>  any order of all these terms; Sum<Bounded> owns the error formula
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/numerics/sum.hpp"

namespace driftscope {

/// Rows [first, first + columns) of a weight matrix [rows, depth], transposed: row k holds what
/// element k of the vector is multiplied by.
template <class S>
struct GateMatrix {
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  std::vector<S> values;

  GateMatrix() = default;
  GateMatrix(std::span<const S> rows, std::int64_t columns_, std::int64_t depth_)
      : depth(depth_), columns(columns_), values(rows.size()) {
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t k = 0; k < depth; ++k)
        values[static_cast<std::size_t>(k * columns + j)] = rows[static_cast<std::size_t>(j * depth + k)];
  }
  [[nodiscard]] const S* row(std::int64_t k) const { return values.data() + k * columns; }
};

template <class S>
class GateSums {
 public:
  GateSums() = default;
  explicit GateSums(std::int64_t size) : sums_(static_cast<std::size_t>(size)) {}

  /// Sum j begins with a[j] + b[j]; either may be null.
  void start(std::int64_t first, std::int64_t count, const S* a, const S* b) {
    for (std::int64_t j = 0; j < count; ++j)
      sums_[static_cast<std::size_t>(first + j)] = a == nullptr ? S(0) : b == nullptr ? a[j] : a[j] + b[j];
  }
  /// Adds to sums [first, first + count) the products of `vector` and the same columns of `matrix`,
  /// counted from `column`.
  void add(std::int64_t first, std::int64_t count, const S* vector, const GateMatrix<S>& matrix,
           std::int64_t column) {
    S* sums = sums_.data() + first;
    for (std::int64_t k = 0; k < matrix.depth; ++k) {
      const S x = vector[k];
      const S* row = matrix.row(k) + column;
      for (std::int64_t j = 0; j < count; ++j) sums[j] = sums[j] + x * row[j];
    }
  }
  [[nodiscard]] S result(std::int64_t j) const { return sums_[static_cast<std::size_t>(j)]; }
  [[nodiscard]] std::span<S> all() { return sums_; }

 private:
  std::vector<S> sums_;
};

template <>
struct GateMatrix<Bounded> {
  GateMatrix<double> value;
  GateMatrix<double> size;   // |value|
  GateMatrix<double> worst;  // empty where all weights are exact
  GateMatrix<double> likely;
  std::int64_t depth = 0;

  GateMatrix() = default;
  GateMatrix(std::span<const Bounded> rows, std::int64_t columns, std::int64_t depth_) : depth(depth_) {
    const auto part = [&](auto pick) {
      std::vector<double> numbers(rows.size());
      std::transform(rows.begin(), rows.end(), numbers.begin(), pick);
      return GateMatrix<double>(numbers, columns, depth_);
    };
    value = part([](const Bounded& x) { return x.value; });
    size = part([](const Bounded& x) { return std::fabs(x.value); });
    if (std::all_of(rows.begin(), rows.end(), [](const Bounded& x) { return x.worst == 0.0; })) return;
    worst = part([](const Bounded& x) { return x.worst; });
    likely = part([](const Bounded& x) { return x.likely; });
  }
};

template <>
class GateSums<Bounded> {
 public:
  GateSums() = default;
  explicit GateSums(std::int64_t size)
      : value_(static_cast<std::size_t>(size)),
        magnitude_(value_.size()),
        worst_(value_.size()),
        likely_(value_.size()),
        first_(value_.size()),
        second_(value_.size()),
        products_(value_.size()) {}

  void start(std::int64_t first, std::int64_t count, const Bounded* a, const Bounded* b) {
    for (std::int64_t j = 0; j < count; ++j) {
      const auto at = static_cast<std::size_t>(first + j);
      value_[at] = magnitude_[at] = worst_[at] = likely_[at] = 0.0;
      products_[at] = 0;
      first_[at] = a != nullptr ? a[j] : Bounded();
      second_[at] = b != nullptr ? b[j] : Bounded();
    }
  }

  void add(std::int64_t first, std::int64_t count, const Bounded* vector, const GateMatrix<Bounded>& matrix,
           std::int64_t column) {
    double* value = value_.data() + first;
    double* magnitude = magnitude_.data() + first;
    double* worst = worst_.data() + first;
    double* likely = likely_.data() + first;
    for (std::int64_t j = 0; j < count; ++j) products_[static_cast<std::size_t>(first + j)] += matrix.depth;
    for (std::int64_t k = 0; k < matrix.depth; ++k) {
      const Bounded x = vector[k];
      const double x_size = std::fabs(x.value);
      const double* w = matrix.value.row(k) + column;
      const double* w_size = matrix.size.row(k) + column;
      for (std::int64_t j = 0; j < count; ++j) {
        value[j] += x.value * w[j];
        magnitude[j] += x_size * w_size[j];
      }
      if (x.worst > 0.0)
        for (std::int64_t j = 0; j < count; ++j) {
          worst[j] += x.worst * w_size[j];
          likely[j] += x.likely * w_size[j];
        }
      if (matrix.worst.values.empty()) continue;
      const double* w_worst = matrix.worst.row(k) + column;
      const double* w_likely = matrix.likely.row(k) + column;
      for (std::int64_t j = 0; j < count; ++j) {
        worst[j] += (x_size + x.worst) * w_worst[j];
        likely[j] += (x_size + x.likely) * w_likely[j];
      }
    }
  }

  [[nodiscard]] Bounded result(std::int64_t j) const {
    const auto at = static_cast<std::size_t>(j);
    Sum<Bounded> sum;
    sum.add(first_[at]);
    sum.add(second_[at]);
    sum.add_exact_products(value_[at], magnitude_[at], products_[at]);
    if (worst_[at] != 0.0) sum.add(Bounded(0.0, unless_nan(worst_[at]), unless_nan(likely_[at])));
    return sum.result();
  }

  /// The sums so far without their bounds.
  void copy_values(GateSums<double>& target) const {
    const auto values = target.all();
    for (std::size_t j = 0; j < value_.size(); ++j)
      values[j] = first_[j].value + second_[j].value + value_[j];
  }

 private:
  // An unbounded error times 0: nothing is known.
  static double unless_nan(double error) {
    return error == error ? error : std::numeric_limits<double>::infinity();
  }

  std::vector<double> value_;
  std::vector<double> magnitude_;
  std::vector<double> worst_;  // inherited from the factors
  std::vector<double> likely_;
  std::vector<Bounded> first_;  // the biases
  std::vector<Bounded> second_;
  std::vector<std::int64_t> products_;
};

}  // namespace driftscope
