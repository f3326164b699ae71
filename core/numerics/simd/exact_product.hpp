// Matrix products in double with exact factors, blocked for registers and caches: the value
// and, for bounds, Σ|a·b|. Each sum grows by one product at a time, k ascending, so that every processor
// and every vector width gives the same bits. Products of numbers that float32 can represent are exact in
// double, so fusing makes no difference; for other numbers each operation is rounded separately.
// Clients: the reference kernels of Conv, Gemm, MatMul. It knows no operator and starts no threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace driftscope {

inline constexpr std::int64_t exact_rows = 4;      ///< of a micro tile
inline constexpr std::int64_t exact_columns = 64;  ///< of a block
inline constexpr std::int64_t exact_depth = 256;   ///< products added before the next panel

/// How the factors are stored.
enum class Factors {
  single,  ///< numbers of 24 bits
  wide,
};

/// values[r·64 + j] += Σₖ a[4k + r]·b[64k + j] for 4 rows r and j in [0, columns rounded up to 16);
/// magnitudes likewise with |a·b|, or null.
void accumulate_exact(Factors factors, const double* a, const double* b, std::int64_t depth,
                      std::int64_t columns, double* values, double* magnitudes);

/// The blocks of one thread.
class ExactBlock {
 public:
  explicit ExactBlock(Factors factors) : factors_(factors) {}

  /// Sums of `rows` × `columns` (at most 64), all 0.
  void clear(std::int64_t rows, bool magnitudes) {
    const std::int64_t tiles = (rows + exact_rows - 1) / exact_rows;
    const auto size = static_cast<std::size_t>(tiles * exact_rows * exact_columns);
    values_.assign(size, 0.0);
    magnitudes_.assign(magnitudes ? size : 0, 0.0);
    a_.resize(static_cast<std::size_t>(exact_rows * exact_depth));
    b_.assign(static_cast<std::size_t>(exact_columns * exact_depth), 0.0);
  }

  /// The initial value of sum (row, column); adds nothing to the magnitude.
  double& value(std::int64_t row, std::int64_t column) { return values_[at(row, column)]; }
  [[nodiscard]] double value(std::int64_t row, std::int64_t column) const { return values_[at(row, column)]; }
  [[nodiscard]] double magnitude(std::int64_t row, std::int64_t column) const {
    return magnitudes_[at(row, column)];
  }

  /// pack_a(row, k, count, out): element (row, k + i) to out[4·i] for i in [0, count).
  /// pack_b(k, count, out): row k + i of B to out[64·i …], all `columns` of it; columns beyond must be
  /// left as they are.
  template <class PackA, class PackB>
  void multiply(std::int64_t rows, std::int64_t depth, std::int64_t columns, const PackA& pack_a,
                const PackB& pack_b) {
    for (std::int64_t k = 0; k < depth; k += exact_depth) {
      const std::int64_t count = std::min(exact_depth, depth - k);
      pack_b(k, count, b_.data());
      for (std::int64_t row = 0; row < rows; row += exact_rows) {
        const std::int64_t tile = std::min(exact_rows, rows - row);
        if (tile < exact_rows) std::fill(a_.begin(), a_.end(), 0.0);
        for (std::int64_t r = 0; r < tile; ++r) pack_a(row + r, k, count, a_.data() + r);
        accumulate_exact(factors_, a_.data(), b_.data(), count, columns, values_.data() + at(row, 0),
                         magnitudes_.empty() ? nullptr : magnitudes_.data() + at(row, 0));
      }
    }
  }

 private:
  static std::size_t at(std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(row * exact_columns + column);
  }

  Factors factors_;
  std::vector<double> values_;
  std::vector<double> magnitudes_;
  std::vector<double> a_;  // [k][4]
  std::vector<double> b_;  // [k][64]
};

}  // namespace driftscope
