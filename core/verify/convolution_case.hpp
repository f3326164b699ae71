// A two-dimensional float32 Conv as Winograd's and Fourier's algorithms see it. Clients:
// variants/winograd.cpp, variants/fourier.cpp.
#pragma once

#include <optional>
#include <span>

#include "core/model/tensor.hpp"
#include "core/ops/shared/window.hpp"

namespace driftscope::variants {

/// Shapes: x [samples, groups·channels, rows.input, columns.input], w [outputs, channels, rows.kernel,
/// columns.kernel], bias [outputs] or empty, y [samples, outputs, rows.output, columns.output].
struct ConvolutionCase {
  std::int64_t samples = 0;
  std::int64_t groups = 1;
  std::int64_t channels = 0;  ///< of a group
  std::int64_t outputs = 0;
  WindowAxis rows;
  WindowAxis columns;
  std::span<const float> x;
  std::span<const float> w;
  std::span<const float> bias;

  [[nodiscard]] std::int64_t group_of(std::int64_t output) const { return output / (outputs / groups); }
  [[nodiscard]] std::size_t x_plane(std::int64_t sample, std::int64_t group, std::int64_t channel) const {
    return static_cast<std::size_t>(((sample * groups + group) * channels + channel) * rows.input *
                                    columns.input);
  }
  [[nodiscard]] std::size_t w_plane(std::int64_t output, std::int64_t channel) const {
    return static_cast<std::size_t>((output * channels + channel) * rows.kernel * columns.kernel);
  }
  [[nodiscard]] std::size_t y_plane(std::int64_t sample, std::int64_t output) const {
    return static_cast<std::size_t>((sample * outputs + output) * rows.output * columns.output);
  }
  [[nodiscard]] Shape y_shape() const { return {samples, outputs, rows.output, columns.output}; }
};

/// Nothing for other convolutions: other ranks or dtypes, empty ones, or without W as a tensor.
[[nodiscard]] std::optional<ConvolutionCase> convolution_case(const Node& node,
                                                              std::span<const Tensor* const> inputs);

}  // namespace driftscope::variants
