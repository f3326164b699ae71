// How two tensors differ, over all their elements: a histogram of ULP distances and a scatter of one
// against the other, in bins. Clients: the tensor view.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// Counts of |ULP distance|: 0, 1, 2–3, 4–7, …, 2³⁰ and more; separately NaN or infinity on one side only.
struct UlpHistogram {
  static constexpr std::size_t bin_count = 32;
  std::array<std::int64_t, bin_count> bins{};
  std::int64_t not_finite = 0;
  std::int64_t elements = 0;
  std::size_t last = 0;  ///< last bin that is not empty
};
/// Floating tensors of one shape and dtype; anything else gives an empty histogram. In floats of the
/// dtype; integers count as one per step.
[[nodiscard]] UlpHistogram ulp_histogram(const Tensor& left, const Tensor& right);
[[nodiscard]] std::string ulp_bin_text(std::size_t bin);
void paint_ulp_histogram(Painter& painter, Box box, const UlpHistogram& histogram, const Theme& theme);

/// Left along x, right along y, counted in side × side bins over the range of both.
struct Scatter {
  std::int64_t side = 0;
  double low = 0.0;
  double high = 0.0;
  std::vector<std::int64_t> bins;  ///< rows from the top: the largest right value first
  std::int64_t largest = 0;        ///< in one bin
  std::int64_t left_out = 0;       ///< not finite on either side
};
[[nodiscard]] Scatter scatter_of(std::span<const double> left, std::span<const double> right,
                                 std::int64_t side = 96);
void paint_scatter(Painter& painter, Box box, const Scatter& scatter, const std::string& left_name,
                   const std::string& right_name, const Theme& theme);

}  // namespace driftscope
