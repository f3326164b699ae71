// Convolution as a product of spectra: each channel transformed by a fast Fourier transform of powers of
// two in float32, multiplied with the conjugate of the kernel's, summed, and transformed back. The errors
// scale with the largest values of an image and spread over all of it.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <new>
#include <numbers>
#include <vector>

#include "core/platform/platform.hpp"
#include "core/verify/convolution_case.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::fourier {
namespace {

using Complex = std::complex<float>;
using Spectrum = std::vector<Complex>;

Complex product(Complex a, Complex b) {  // operator* of std::complex checks for infinities
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// In place, decimation in time; `size` a power of two, elements `stride` apart.
class Transform {
 public:
  explicit Transform(std::size_t size)
      : size_(size), bits_(static_cast<int>(std::bit_width(size)) - 1), twiddles_(size / 2 + 1) {
    for (std::size_t k = 0; k < twiddles_.size(); ++k) {
      const double angle = -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
      twiddles_[k] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    }
  }
  [[nodiscard]] std::size_t size() const { return size_; }

  void run(Complex* x, std::size_t stride, bool inverse) const {
    for (std::size_t i = 0; i < size_; ++i) {
      const std::size_t j = reversed(i);
      if (i < j) std::swap(x[i * stride], x[j * stride]);
    }
    for (std::size_t length = 2; length <= size_; length *= 2)
      for (std::size_t start = 0; start < size_; start += length)
        for (std::size_t k = 0; k < length / 2; ++k) {
          const Complex turn = twiddles_[k * (size_ / length)];
          Complex& a = x[(start + k) * stride];
          Complex& b = x[(start + k + length / 2) * stride];
          const Complex moved = product(b, inverse ? std::conj(turn) : turn);
          b = a - moved;
          a += moved;
        }
  }

 private:
  [[nodiscard]] std::size_t reversed(std::size_t i) const {
    std::size_t result = 0;
    for (int b = 0; b < bits_; ++b) result |= (i >> b & 1) << (bits_ - 1 - b);
    return result;
  }

  std::size_t size_;
  int bits_;
  std::vector<Complex> twiddles_;
};

class Convolution {
 public:
  explicit Convolution(const ConvolutionCase& conv)
      : conv_(conv), down_(transform_of(conv.rows)), across_(transform_of(conv.columns)) {}

  [[nodiscard]] std::size_t spectrum_size() const { return down_.size() * across_.size(); }

  /// Spectra of all channels of X of one sample and group.
  [[nodiscard]] std::vector<Spectrum> inputs(std::int64_t sample, std::int64_t group) const {
    std::vector<Spectrum> spectra;
    for (std::int64_t c = 0; c < conv_.channels; ++c)
      spectra.push_back(spectrum(conv_.x.data() + conv_.x_plane(sample, group, c), conv_.rows.input,
                                 conv_.columns.input, conv_.rows.pad_begin, conv_.columns.pad_begin));
    return spectra;
  }

  void compute(const std::vector<Spectrum>& x, std::int64_t sample, std::int64_t output,
               std::span<float> y) const {
    Spectrum sum(spectrum_size());
    for (std::int64_t c = 0; c < conv_.channels; ++c) {
      const Spectrum w =
          spectrum(conv_.w.data() + conv_.w_plane(output, c), conv_.rows.kernel, conv_.columns.kernel, 0, 0);
      const Spectrum& from = x[static_cast<std::size_t>(c)];
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += product(from[i], std::conj(w[i]));
    }
    transform(sum, true);
    const float scale = 1.0f / static_cast<float>(spectrum_size());
    const float bias = conv_.bias.empty() ? 0.0f : conv_.bias[static_cast<std::size_t>(output)];
    float* plane = y.data() + conv_.y_plane(sample, output);
    for (std::int64_t i = 0; i < conv_.rows.output; ++i)
      for (std::int64_t j = 0; j < conv_.columns.output; ++j) {
        const auto at = static_cast<std::size_t>(i * conv_.rows.stride) * across_.size() +
                        static_cast<std::size_t>(j * conv_.columns.stride);
        plane[i * conv_.columns.output + j] = sum[at].real() * scale + bias;
      }
  }

 private:
  static Transform transform_of(const WindowAxis& axis) {
    const std::int64_t padded = axis.input + axis.pad_begin + std::max<std::int64_t>(axis.pad_end, 0);
    return Transform(std::bit_ceil(static_cast<std::size_t>(padded + axis.kernel - 1)));
  }

  Spectrum spectrum(const float* from, std::int64_t rows, std::int64_t columns, std::int64_t top,
                    std::int64_t left) const {
    Spectrum result(spectrum_size());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        result[static_cast<std::size_t>(i + top) * across_.size() + static_cast<std::size_t>(j + left)] =
            from[i * columns + j];
    transform(result, false);
    return result;
  }

  void transform(Spectrum& image, bool inverse) const {
    for (std::size_t i = 0; i < down_.size(); ++i) across_.run(image.data() + i * across_.size(), 1, inverse);
    for (std::size_t j = 0; j < across_.size(); ++j) down_.run(image.data() + j, across_.size(), inverse);
  }

  const ConvolutionCase& conv_;
  Transform down_;
  Transform across_;
};

std::optional<Tensor> convolve(const Node& node, std::span<const Tensor* const> inputs, ThreadPool& threads) {
  constexpr double max_work = 4e10;  // a minute on one core
  const auto conv = convolution_case(node, inputs);
  if (!conv || conv->rows.dilation != 1 || conv->columns.dilation != 1 || conv->rows.pad_begin < 0 ||
      conv->columns.pad_begin < 0)
    return std::nullopt;
  const Convolution convolution(*conv);
  const double kernels = static_cast<double>(conv->outputs) * static_cast<double>(conv->channels);
  if (kernels * static_cast<double>(conv->samples) * static_cast<double>(convolution.spectrum_size()) * 30 >
      max_work)
    return std::nullopt;
  auto y = Tensor::make(DType::float32, conv->y_shape());
  if (!y.ok()) return std::nullopt;
  const std::span<float> values = y->mutable_values<float>();
  const std::int64_t of_group = conv->outputs / conv->groups;
  std::atomic<bool> out_of_memory = false;  // code on other threads must not throw
  for (std::int64_t sample = 0; sample < conv->samples; ++sample)
    for (std::int64_t group = 0; group < conv->groups; ++group) {
      const std::vector<Spectrum> x = convolution.inputs(sample, group);
      threads.parallel_for(of_group, 1, [&](std::int64_t begin, std::int64_t end) {
        try {
          for (std::int64_t o = begin; o < end; ++o)
            convolution.compute(x, sample, group * of_group + o, values);
        } catch (const std::bad_alloc&) {
          out_of_memory = true;
        }
      });
    }
  if (out_of_memory) return std::nullopt;
  return *std::move(y);
}

std::optional<Tensor> witness(const Node& node, std::span<const Tensor* const> inputs, ThreadPool& threads) {
  try {
    return convolve(node, inputs, threads);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.family = "algorithm",
             .id = "fft",
             .name = "a fast Fourier transform",
             .operators = {"Conv"},
             .witness = witness});
}

}  // namespace driftscope::variants::fourier
