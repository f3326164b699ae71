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

/// Rows [first, first + columns) of a weight matrix [rows, depth], transposed: row k holds the
/// factors of element k of the vector.
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

/// Doubles that are all representable as float, such as the weights of a float32 model, are kept as floats:
/// the products of a step are limited by memory bandwidth.
template <>
struct GateMatrix<double> {
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  std::vector<float> narrow;  // one of the two is empty
  std::vector<double> wide;

  GateMatrix() = default;
  GateMatrix(std::span<const double> rows, std::int64_t columns_, std::int64_t depth_)
      : depth(depth_), columns(columns_) {
    const bool floats = std::all_of(rows.begin(), rows.end(),
                                    [](double x) { return static_cast<double>(static_cast<float>(x)) == x; });
    floats ? transpose(rows, narrow) : transpose(rows, wide);
  }
  [[nodiscard]] bool empty() const { return narrow.empty() && wide.empty(); }

  /// Calls body(values), whose element k · columns + j is that of row k and column j.
  template <class Body>
  void with_values(const Body& body) const {
    narrow.empty() ? body(wide.data()) : body(narrow.data());
  }

 private:
  template <class T>
  void transpose(std::span<const double> rows, std::vector<T>& values) const {
    values.resize(rows.size());
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t k = 0; k < depth; ++k)
        values[static_cast<std::size_t>(k * columns + j)] =
            static_cast<T>(rows[static_cast<std::size_t>(j * depth + k)]);
  }
};

/// Calls body(k, count) for 0 ≤ k < depth in steps of four, then of one: adding four terms at a time
/// to each sum, in order, quarters the reads and writes of the sums.
template <class Four, class One>
void in_fours(std::int64_t depth, const Four& four, const One& one) {
  std::int64_t k = 0;
  for (; k + 4 <= depth; k += 4) four(k);
  for (; k < depth; ++k) one(k);
}

template <>
class GateSums<double> {
 public:
  GateSums() = default;
  explicit GateSums(std::int64_t size) : sums_(static_cast<std::size_t>(size)) {}

  void start(std::int64_t first, std::int64_t count, const double* a, const double* b) {
    for (std::int64_t j = 0; j < count; ++j)
      sums_[static_cast<std::size_t>(first + j)] = a == nullptr ? 0.0 : b == nullptr ? a[j] : a[j] + b[j];
  }
  void add(std::int64_t first, std::int64_t count, const double* vector, const GateMatrix<double>& matrix,
           std::int64_t column) {
    double* sums = sums_.data() + first;
    matrix.with_values([&](const auto* values) {
      const auto* begin = values + column;
      const std::int64_t stride = matrix.columns;
      in_fours(
          matrix.depth,
          [&](std::int64_t k) {
            const auto* w = begin + k * stride;
            const double* x = vector + k;
            for (std::int64_t j = 0; j < count; ++j)
              sums[j] = (((sums[j] + x[0] * static_cast<double>(w[j])) +
                          x[1] * static_cast<double>(w[stride + j])) +
                         x[2] * static_cast<double>(w[2 * stride + j])) +
                        x[3] * static_cast<double>(w[3 * stride + j]);
          },
          [&](std::int64_t k) {
            const auto* w = begin + k * stride;
            for (std::int64_t j = 0; j < count; ++j)
              sums[j] = sums[j] + vector[k] * static_cast<double>(w[j]);
          });
    });
  }
  [[nodiscard]] double result(std::int64_t j) const { return sums_[static_cast<std::size_t>(j)]; }
  [[nodiscard]] std::span<double> all() { return sums_; }

 private:
  std::vector<double> sums_;
};

template <>
struct GateMatrix<Bounded> {
  GateMatrix<double> value;
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
    for (std::int64_t j = 0; j < count; ++j) products_[static_cast<std::size_t>(first + j)] += matrix.depth;
    add_values(first, count, vector, matrix.value, column);
    add_errors_of_vector(first, count, vector, matrix.value, column);
    if (matrix.worst.empty()) return;
    add_errors_of_matrix(first, count, vector, matrix.worst, column, worst_, &Bounded::worst);
    add_errors_of_matrix(first, count, vector, matrix.likely, column, likely_, &Bounded::likely);
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
  void add_values(std::int64_t first, std::int64_t count, const Bounded* vector,
                  const GateMatrix<double>& matrix, std::int64_t column) {
    double* value = value_.data() + first;
    double* magnitude = magnitude_.data() + first;
    matrix.with_values([&](const auto* values) {
      const auto* begin = values + column;
      const std::int64_t stride = matrix.columns;
      in_fours(
          matrix.depth,
          [&](std::int64_t k) {
            const auto* w = begin + k * stride;
            const double x0 = vector[k].value, x1 = vector[k + 1].value;
            const double x2 = vector[k + 2].value, x3 = vector[k + 3].value;
            for (std::int64_t j = 0; j < count; ++j) {
              const double p0 = x0 * static_cast<double>(w[j]);
              const double p1 = x1 * static_cast<double>(w[stride + j]);
              const double p2 = x2 * static_cast<double>(w[2 * stride + j]);
              const double p3 = x3 * static_cast<double>(w[3 * stride + j]);
              value[j] = (((value[j] + p0) + p1) + p2) + p3;
              magnitude[j] =
                  (((magnitude[j] + finite_size(p0)) + finite_size(p1)) + finite_size(p2)) + finite_size(p3);
            }
          },
          [&](std::int64_t k) {
            const auto* w = begin + k * stride;
            for (std::int64_t j = 0; j < count; ++j) {
              const double product = vector[k].value * static_cast<double>(w[j]);
              value[j] += product;
              magnitude[j] += finite_size(product);
            }
          });
    });
  }
  void add_errors_of_vector(std::int64_t first, std::int64_t count, const Bounded* vector,
                            const GateMatrix<double>& matrix, std::int64_t column) {
    double* worst = worst_.data() + first;
    double* likely = likely_.data() + first;
    matrix.with_values([&](const auto* values) {
      for (std::int64_t k = 0; k < matrix.depth; ++k) {
        const Bounded x = vector[k];
        if (!(x.worst > 0.0)) continue;
        const auto* w = values + k * matrix.columns + column;
        for (std::int64_t j = 0; j < count; ++j) {
          const double size = std::fabs(static_cast<double>(w[j]));
          worst[j] += x.worst * size;
          likely[j] += x.likely * size;
        }
      }
    });
  }
  static void add_errors_of_matrix(std::int64_t first, std::int64_t count, const Bounded* vector,
                                   const GateMatrix<double>& errors, std::int64_t column,
                                   std::vector<double>& sums, double Bounded::* which) {
    double* sum = sums.data() + first;
    errors.with_values([&](const auto* values) {
      for (std::int64_t k = 0; k < errors.depth; ++k) {
        const double size = std::fabs(vector[k].value) + vector[k].*which;
        const auto* error = values + k * errors.columns + column;
        for (std::int64_t j = 0; j < count; ++j) sum[j] += size * static_cast<double>(error[j]);
      }
    });
  }
  // Infinite terms are in the value; of the finite ones Sum<Bounded> wants to know whether they overflow.
  static double finite_size(double product) {
    const double size = std::fabs(product);
    return size < std::numeric_limits<double>::infinity() ? size : 0.0;
  }
  // An infinite error times 0: the result is unknown.
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
