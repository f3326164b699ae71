#include "core/engines/fast/row_convolution.hpp"

#include <algorithm>
#include <functional>

namespace driftscope::fast {

bool is_row_convolution(const RowWindow& window, std::int64_t groups) {
  return groups == 1 && window.has_few_channels() && window.window.width.dilation == 1 &&
         window.pads_little();
}

RowConvolution::RowConvolution(const RowWindow& window, std::int64_t outputs,
                               const RowConvolutionKernels& kernels, const float* weights, const float* bias,
                               float min, float max, ThreadPool& pool, std::int64_t threads)
    : window_(window),
      outputs_(outputs),
      kernels_(kernels),
      pool_(pool),
      parts_(std::clamp<std::int64_t>(threads, 1, window.rows())),
      weights_(kernels.all_columns(outputs) * window.depth() * window.window.height.kernel),
      bias_(static_cast<std::size_t>(kernels.all_columns(outputs))),
      zeros_(static_cast<std::size_t>(window.pitch())),
      min_(min),
      max_(max) {
  if (bias != nullptr) std::copy_n(bias, outputs, bias_.begin());
  pack(weights);
}

void RowConvolution::pack(const float* weights) {
  const auto lanes = static_cast<std::int64_t>(kernels_.lanes);
  const std::int64_t inputs = window_.channels;
  const std::int64_t height = window_.window.height.kernel;
  const std::int64_t width = window_.window.width.kernel;
  std::fill_n(weights_.data(), weights_.size(), 0.0f);
  for (std::int64_t first = 0; first < outputs_; first += 2 * lanes) {
    const std::int64_t left = outputs_ - first;
    const std::int64_t columns = left > lanes ? 2 * lanes : lanes;
    float* to = weights_.data() + first * height * window_.depth();
    for (std::int64_t i = 0; i < height; ++i)
      for (std::int64_t j = 0; j < width; ++j)
        for (std::int64_t c = 0; c < inputs; ++c, to += columns)
          for (std::int64_t o = 0; o < std::min(left, columns); ++o)
            to[o] = weights[(((first + o) * inputs + c) * height + i) * width + j];
  }
}

void RowConvolution::run_part(const float* x, bool channels_last, float* y, std::int64_t part,
                              float* scratch) const {
  RowOfPixels it{.rows = nullptr,
                 .height = static_cast<std::size_t>(window_.window.height.kernel),
                 .depth = static_cast<std::size_t>(window_.depth()),
                 .step = static_cast<std::size_t>(window_.step()),
                 .w = weights_.data(),
                 .bias = bias_.data(),
                 .min = min_,
                 .max = max_,
                 .y = nullptr,
                 .outputs = static_cast<std::size_t>(outputs_),
                 .pixels = static_cast<std::size_t>(window_.window.width.output)};
  const RowRing<float> ring{scratch + part * window_.ring_rows(1) * window_.pitch(), window_.pitch(),
                            zeros_.data()};
  for_each_row(
      window_, window_.rows() * part / parts_, window_.rows() * (part + 1) / parts_, 1, ring,
      [&](std::int64_t image, std::int64_t row, float* to) {
        const float* from = x + image * window_.image_size();
        if (channels_last || window_.channels == 1)
          copy_padded_row(
              window_, from + row * window_.row_size(), to,
              [](const float* some, float* target, std::int64_t n) { std::copy_n(some, n, target); });
        else
          gather_padded_row(window_, from, row, to, std::identity());
      },
      [&](const float* const* rows, std::int64_t at, std::int64_t /*count*/) {
        it.rows = rows;
        it.y = y + at * window_.window.width.output * outputs_;
        kernels_.run(it);
      });
}

void RowConvolution::run(const float* x, bool channels_last, float* y, float* scratch) const {
  pool_.parallel_for(parts_, 1, [&](std::int64_t part, std::int64_t end) {
    for (; part < end; ++part) run_part(x, channels_last, y, part, scratch);
  });
}

}  // namespace driftscope::fast
