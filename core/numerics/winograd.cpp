// Compiled for size on the web (cmake/core.cmake).
#include "core/numerics/winograd.hpp"

#include <fmt/format.h>

namespace driftscope {
namespace {

void set_input(WinogradMatrices& made) {
  switch (made.tile()) {
    case 4:
      made.input = {1, 0,  -1, 0,  //
                    0, 1,  1,  0,  //
                    0, -1, 1,  0,  //
                    0, 1,  0,  -1};
      made.points = {0, 1, -1};
      made.factors = {1, 0.5, 0.5};
      return;
    case 6:
      made.input = {4, 0,  -5, 0,  1, 0,  //
                    0, -4, -4, 1,  1, 0,  //
                    0, 4,  -4, -1, 1, 0,  //
                    0, -2, -1, 2,  1, 0,  //
                    0, 2,  -1, -2, 1, 0,  //
                    0, 4,  0,  -5, 0, 1};
      made.points = {0, 1, -1, 2, -2};
      made.factors = {0.25, -1.0 / 6, -1.0 / 6, 1.0 / 24, 1.0 / 24};
      return;
    default:
      made.input = {1, 0,    -5.25, 0,     5.25,  0,     -1, 0,  //
                    0, 1,    1,     -4.25, -4.25, 1,     1,  0,  //
                    0, -1,   1,     4.25,  -4.25, -1,    1,  0,  //
                    0, 0.5,  0.25,  -2.5,  -1.25, 2,     1,  0,  //
                    0, -0.5, 0.25,  2.5,   -1.25, -2,    1,  0,  //
                    0, 2,    4,     -2.5,  -5,    0.5,   1,  0,  //
                    0, -2,   4,     2.5,   -5,    -0.5,  1,  0,  //
                    0, -1,   0,     5.25,  0,     -5.25, 0,  1};
      made.points = {0, 1, -1, 2, -2, 0.5, -0.5};
      made.factors = {1, -2.0 / 9, -2.0 / 9, 1.0 / 90, 1.0 / 90, 32.0 / 45, 32.0 / 45};
  }
}

}  // namespace

WinogradMatrices winograd_matrices(std::size_t outputs, std::size_t kernel_size) {
  WinogradMatrices made{.outputs = outputs, .kernel_size = kernel_size};
  set_input(made);
  const std::size_t n = made.tile();
  made.kernel.assign(n * kernel_size, 0.0);
  made.output.assign(outputs * n, 0.0);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    double power = 1.0;
    for (std::size_t k = 0; k < kernel_size || k < outputs; ++k) {
      if (k < kernel_size) made.kernel[i * kernel_size + k] = made.factors[i] * power;
      if (k < outputs) made.output[k * n + i] = power;
      power *= made.points[i];
    }
  }
  made.kernel.back() = 1.0;
  made.output.back() = n == 4 ? -1.0 : 1.0;  // as the last row of Bᵀ has its sign
  return made;
}

std::string winograd_name(std::size_t outputs, std::size_t kernel_size) {
  return fmt::format("F({},{})", outputs, kernel_size);
}

}  // namespace driftscope
