#include "core/engines/fast/int8_row_convolution.hpp"

#include <algorithm>

namespace driftscope::fast {
namespace {

// Rows below this many pixels leave too much of a block of the kernels empty; several are computed together.
constexpr std::int64_t wide_row = 12;
constexpr std::int64_t wanted_pixels = 48;

std::int64_t rows_at_once(const lowering::Window2d& window) {
  if (window.width.output >= wide_row) return 1;
  return std::clamp<std::int64_t>(wanted_pixels / window.width.output, 1, window.height.output);
}

/// Elements of a row of the window, in pairs.
std::int64_t even_depth(const RowWindow& window) { return window.depth() + window.depth() % 2; }

}  // namespace

bool is_int8_row_convolution(const RowWindow& window, std::int64_t groups) {
  return groups == 1 && window.window.width.dilation == 1 && window.pads_little();
}

bool int8_rows_pay(const RowWindow& window, const Int8RowKernels& kernels) {
  constexpr std::int64_t together = 8;  // channels of a pixel that XNNPACK's kernels multiply
  const std::int64_t padded = (window.channels + together - 1) / together * together;
  return !kernels.has_rival || 4 * padded >= 5 * window.channels;
}

Int8RowConvolution::Int8RowConvolution(const RowWindow& window, std::int64_t outputs,
                                       const Int8RowKernels& kernels, const std::int8_t* weights,
                                       const std::vector<std::int32_t>& bias,
                                       const std::vector<float>& scales, Int8Form x, const Int8Result& y,
                                       ThreadPool& pool, std::int64_t threads)
    : window_(window),
      outputs_(outputs),
      kernels_(kernels),
      pool_(pool),
      parts_(std::clamp<std::int64_t>(threads, 1, window.rows())),
      at_once_(rows_at_once(window.window)),
      weights_(kernels.all_columns(outputs) * even_depth(window) * window.window.height.kernel),
      bias_(bias),
      scales_(scales),
      zeros_(static_cast<std::size_t>(spacing())),
      x_(x),
      y_(y) {
  bias_.resize(static_cast<std::size_t>(kernels.all_columns(outputs)));
  scales_.resize(bias_.size());
  pack(weights);
}

void Int8RowConvolution::pack(const std::int8_t* weights) {
  const auto lanes = static_cast<std::int64_t>(kernels_.lanes);
  const std::int64_t inputs = window_.channels;
  const std::int64_t height = window_.window.height.kernel;
  const std::int64_t width = window_.window.width.kernel;
  const std::int64_t depth = even_depth(window_);
  std::fill_n(weights_.data(), weights_.size(), std::int8_t{0});
  for (std::int64_t first = 0; first < outputs_; first += 2 * lanes) {
    const std::int64_t left = outputs_ - first;
    const std::int64_t columns = left > lanes ? 2 * lanes : lanes;
    std::int8_t* const panel = weights_.data() + first * height * depth;
    for (std::int64_t o = 0; o < std::min(left, columns); ++o)
      for (std::int64_t c = 0; c < inputs; ++c)
        for (std::int64_t i = 0; i < height; ++i)
          for (std::int64_t j = 0; j < width; ++j) {
            const std::int64_t k = j * inputs + c;
            panel[(i * depth + k / 2 * 2) * columns + 2 * o + k % 2] =
                weights[(((first + o) * inputs + c) * height + i) * width + j];
          }
  }
}

void Int8RowConvolution::copy_row(const std::byte* x, bool channels_last, std::int64_t image,
                                  std::int64_t row, std::int16_t* to) const {
  to[window_.pitch()] = 0;
  const auto copy = [&](const auto* first, const auto& widen) {
    const auto* from = first + image * window_.image_size();
    const auto zero_point = static_cast<std::int16_t>(x_.zero_point);
    if (!channels_last && window_.channels > 1) {
      gather_padded_row(window_, from, row, to,
                        [&](auto value) { return static_cast<std::int16_t>(value - zero_point); });
      return;
    }
    copy_padded_row(window_, from + row * window_.row_size(), to,
                    [&](const auto* some, std::int16_t* target, std::int64_t n) {
                      widen(some, zero_point, target, static_cast<std::size_t>(n));
                    });
  };
  if (x_.is_signed)
    copy(reinterpret_cast<const std::int8_t*>(x), kernels_.widen_signed);
  else
    copy(reinterpret_cast<const std::uint8_t*>(x), kernels_.widen_unsigned);
}

void Int8RowConvolution::run_part(const std::byte* x, bool channels_last, std::byte* y, std::int64_t part,
                                  std::int16_t* scratch) const {
  Int8RowsOfPixels it{.rows = nullptr,
                      .width = static_cast<std::size_t>(window_.window.width.output),
                      .height = static_cast<std::size_t>(window_.window.height.kernel),
                      .depth = static_cast<std::size_t>(window_.depth()),
                      .step = static_cast<std::size_t>(window_.step()),
                      .w = weights_.data(),
                      .bias = bias_.data(),
                      .scale = scales_.data(),
                      .zero_point = y_.form.zero_point,
                      .min = y_.min,
                      .max = y_.max,
                      .is_signed = y_.form.is_signed,
                      .y = nullptr,
                      .outputs = static_cast<std::size_t>(outputs_),
                      .pixels = 0};
  const RowRing<std::int16_t> ring{scratch + part * window_.ring_rows(at_once_) * spacing(), spacing(),
                                   zeros_.data()};
  for_each_row(
      window_, window_.rows() * part / parts_, window_.rows() * (part + 1) / parts_, at_once_, ring,
      [&](std::int64_t image, std::int64_t row, std::int16_t* to) {
        copy_row(x, channels_last, image, row, to);
      },
      [&](const std::int16_t* const* rows, std::int64_t at, std::int64_t count) {
        it.rows = rows;
        it.pixels = static_cast<std::size_t>(count) * it.width;
        it.y = reinterpret_cast<std::uint8_t*>(y) + at * window_.window.width.output * outputs_;
        kernels_.run(it);
      });
}

void Int8RowConvolution::run(const std::byte* x, bool channels_last, std::byte* y, std::byte* scratch) const {
  pool_.parallel_for(parts_, 1, [&](std::int64_t part, std::int64_t end) {
    for (; part < end; ++part) run_part(x, channels_last, y, part, reinterpret_cast<std::int16_t*>(scratch));
  });
}

}  // namespace driftscope::fast
