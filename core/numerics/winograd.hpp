// The matrices of Winograd's minimal filtering (Lavin and Gray 2016): F(m×m, r×r) is
// Y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A for input tiles d of n×n with n = m + r − 1. Points of interpolation as in
// NNPACK and oneDNN: 0, ±1, ±2, ±½, ∞, in that order. Clients: the fast engine, the judge of convolutions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace driftscope {

/// Row by row.
struct WinogradMatrices {
  std::size_t outputs = 0;          ///< m
  std::size_t kernel_size = 0;      ///< r
  std::vector<double> input = {};   ///< Bᵀ, n×n
  std::vector<double> kernel = {};  ///< G, n×r
  std::vector<double> output = {};  ///< Aᵀ, m×n
  /// The rows of G but the last are factor·(1, p, p², …) at a point p; the last is that of ∞.
  std::vector<double> points = {};
  std::vector<double> factors = {};

  [[nodiscard]] std::size_t tile() const { return outputs + kernel_size - 1; }  ///< n
};

/// For n of 4, 6 and 8.
[[nodiscard]] WinogradMatrices winograd_matrices(std::size_t outputs, std::size_t kernel_size);

/// "F(4,3)"
[[nodiscard]] std::string winograd_name(std::size_t outputs, std::size_t kernel_size);

}  // namespace driftscope
