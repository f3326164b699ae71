// Winograd's minimal filtering (core/numerics/winograd.hpp) for 3×3 and 5×5 kernels with stride 1.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <new>
#include <vector>

#include "core/numerics/winograd.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/convolution_case.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::winograd {
namespace {

constexpr std::size_t max_tile = 8;
using Tile = std::array<float, max_tile * max_tile>;

/// As WinogradMatrices, in float32.
struct Transform {
  std::size_t outputs;  // m
  std::size_t kernel_size;
  std::vector<float> input;
  std::vector<float> kernel;
  std::vector<float> output;
  [[nodiscard]] std::size_t tile() const { return outputs + kernel_size - 1; }
};

Transform transform(std::size_t outputs, std::size_t kernel_size) {
  const WinogradMatrices exact = winograd_matrices(outputs, kernel_size);
  const auto rounded = [](const std::vector<double>& x) {
    std::vector<float> floats;
    for (const double one : x) floats.push_back(static_cast<float>(one));
    return floats;
  };
  return {outputs, kernel_size, rounded(exact.input), rounded(exact.kernel), rounded(exact.output)};
}

/// left·x·leftᵀ for a matrix left of rows×columns and x of columns×columns.
void both_sides(const std::vector<float>& left, std::size_t rows, std::size_t columns, const Tile& x,
                Tile& result) {
  Tile half;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < columns; ++j) {
      float sum = 0.0f;
      for (std::size_t k = 0; k < columns; ++k) sum += left[r * columns + k] * x[k * columns + j];
      half[r * columns + j] = sum;
    }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t s = 0; s < rows; ++s) {
      float sum = 0.0f;
      for (std::size_t k = 0; k < columns; ++k) sum += half[r * columns + k] * left[s * columns + k];
      result[r * rows + s] = sum;
    }
}

/// All kernels transformed: [output][channel][n·n].
std::vector<float> transformed_kernels(const ConvolutionCase& conv, const Transform& how,
                                       ThreadPool& threads) {
  const std::size_t n = how.tile();
  const std::size_t r = how.kernel_size;
  const auto channels = static_cast<std::size_t>(conv.channels);
  std::vector<float> kernels(static_cast<std::size_t>(conv.outputs) * channels * n * n);
  threads.parallel_for(conv.outputs, 1, [&](std::int64_t begin, std::int64_t end) {
    Tile kernel;
    Tile result;
    for (std::int64_t o = begin; o < end; ++o)
      for (std::size_t c = 0; c < channels; ++c) {
        const float* from = conv.w.data() + conv.w_plane(o, static_cast<std::int64_t>(c));
        std::copy_n(from, r * r, kernel.begin());
        both_sides(how.kernel, n, r, kernel, result);
        std::copy_n(result.begin(), n * n,
                    kernels.begin() +
                        static_cast<std::ptrdiff_t>((static_cast<std::size_t>(o) * channels + c) * n * n));
      }
  });
  return kernels;
}

/// The input of a tile at its upper left output, zeros outside.
void read_tile(const ConvolutionCase& conv, const float* plane, std::int64_t row, std::int64_t column,
               std::size_t n, Tile& tile) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const std::int64_t y = conv.rows.at(row, 0) + static_cast<std::int64_t>(i);
      const std::int64_t x = conv.columns.at(column, 0) + static_cast<std::int64_t>(j);
      const bool inside = y >= 0 && y < conv.rows.input && x >= 0 && x < conv.columns.input;
      tile[i * n + j] = inside ? plane[y * conv.columns.input + x] : 0.0f;
    }
}

class Convolution {
 public:
  Convolution(const ConvolutionCase& conv, const Transform& how, ThreadPool& threads)
      : conv_(conv),
        how_(how),
        kernels_(transformed_kernels(conv, how, threads)),
        down_((conv.rows.output - 1) / m() + 1),
        across_((conv.columns.output - 1) / m() + 1) {}

  [[nodiscard]] std::int64_t tiles() const { return conv_.samples * conv_.groups * down_ * across_; }

  /// All outputs of the group in one tile.
  void compute(std::int64_t tile, std::vector<float>& inputs, std::span<float> y) const {
    const std::size_t n = how_.tile();
    const std::int64_t column = tile % across_ * m();
    const std::int64_t row = tile / across_ % down_ * m();
    const std::int64_t group = tile / across_ / down_ % conv_.groups;
    const std::int64_t sample = tile / across_ / down_ / conv_.groups;
    const auto channels = static_cast<std::size_t>(conv_.channels);
    inputs.resize(channels * n * n);
    Tile from;
    Tile to;
    for (std::size_t c = 0; c < channels; ++c) {
      const float* plane = conv_.x.data() + conv_.x_plane(sample, group, static_cast<std::int64_t>(c));
      read_tile(conv_, plane, row, column, n, from);
      both_sides(how_.input, n, n, from, to);
      std::copy_n(to.begin(), n * n, inputs.begin() + static_cast<std::ptrdiff_t>(c * n * n));
    }
    const std::int64_t of_group = conv_.outputs / conv_.groups;
    for (std::int64_t o = group * of_group; o < (group + 1) * of_group; ++o) {
      from.fill(0.0f);
      const float* kernels = kernels_.data() + static_cast<std::size_t>(o) * channels * n * n;
      for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t i = 0; i < n * n; ++i) from[i] += inputs[c * n * n + i] * kernels[c * n * n + i];
      both_sides(how_.output, how_.outputs, n, from, to);
      // The transforms spread what is not finite over the tile, which nobody wants of a runtime.
      const std::span sums = std::span(to).first(how_.outputs * how_.outputs);
      if (!std::ranges::all_of(sums, [](float sum) { return std::isfinite(sum); }))
        compute_directly(sample, o, row, column, to);
      store(to, sample, o, row, column, y);
    }
  }

 private:
  void compute_directly(std::int64_t sample, std::int64_t output, std::int64_t row, std::int64_t column,
                        Tile& to) const {
    const auto r = static_cast<std::int64_t>(how_.kernel_size);
    for (std::int64_t i = 0; i < m() * m(); ++i) {
      double sum = 0.0;
      for (std::int64_t c = 0; c < conv_.channels; ++c) {
        const float* x = conv_.x.data() + conv_.x_plane(sample, conv_.group_of(output), c);
        const float* w = conv_.w.data() + conv_.w_plane(output, c);
        for (std::int64_t tap = 0; tap < r * r; ++tap) {
          const std::int64_t from = conv_.rows.at(row + i / m(), tap / r);
          const std::int64_t at = conv_.columns.at(column + i % m(), tap % r);
          if (from < 0 || from >= conv_.rows.input || at < 0 || at >= conv_.columns.input) continue;
          sum += static_cast<double>(x[from * conv_.columns.input + at]) * static_cast<double>(w[tap]);
        }
      }
      to[static_cast<std::size_t>(i)] = static_cast<float>(sum);
    }
  }

  [[nodiscard]] std::int64_t m() const { return static_cast<std::int64_t>(how_.outputs); }

  void store(const Tile& tile, std::int64_t sample, std::int64_t output, std::int64_t row,
             std::int64_t column, std::span<float> y) const {
    const float bias = conv_.bias.empty() ? 0.0f : conv_.bias[static_cast<std::size_t>(output)];
    float* plane = y.data() + conv_.y_plane(sample, output);
    for (std::int64_t i = 0; i < m() && row + i < conv_.rows.output; ++i)
      for (std::int64_t j = 0; j < m() && column + j < conv_.columns.output; ++j)
        plane[(row + i) * conv_.columns.output + column + j] =
            tile[static_cast<std::size_t>(i * m() + j)] + bias;
  }

  const ConvolutionCase& conv_;
  const Transform& how_;
  std::vector<float> kernels_;
  std::int64_t down_;
  std::int64_t across_;
};

bool is_simple(const WindowAxis& axis, std::size_t kernel) {
  return axis.kernel == static_cast<std::int64_t>(kernel) && axis.stride == 1 && axis.dilation == 1;
}

std::optional<Tensor> convolve(const Node& node, std::span<const Tensor* const> inputs, const Transform& how,
                               ThreadPool& threads) {
  constexpr std::int64_t max_kernels = std::int64_t{1} << 24;  // of 3×3: 4 GB transformed by F(6,3)
  const auto conv = convolution_case(node, inputs);
  if (!conv || !is_simple(conv->rows, how.kernel_size) || !is_simple(conv->columns, how.kernel_size))
    return std::nullopt;
  if (conv->outputs * conv->channels > max_kernels / 4) return std::nullopt;
  auto y = Tensor::make(DType::float32, conv->y_shape());
  if (!y.ok()) return std::nullopt;
  const std::span<float> values = y->mutable_values<float>();
  const Convolution convolution(*conv, how, threads);
  std::atomic<bool> out_of_memory = false;  // code on other threads must not throw
  threads.parallel_for(convolution.tiles(), 4, [&](std::int64_t begin, std::int64_t end) {
    try {
      std::vector<float> memory;
      for (std::int64_t tile = begin; tile < end; ++tile) convolution.compute(tile, memory, values);
    } catch (const std::bad_alloc&) {
      out_of_memory = true;
    }
  });
  if (out_of_memory) return std::nullopt;
  return *std::move(y);
}

template <std::size_t outputs, std::size_t kernel_size>
std::optional<Tensor> witness(const Node& node, std::span<const Tensor* const> inputs, ThreadPool& threads) {
  static const Transform how = transform(outputs, kernel_size);
  try {
    return convolve(node, inputs, how, threads);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

template <std::size_t outputs, std::size_t kernel_size>
void add(VariantTable& table, std::string_view id, std::string_view name) {
  table.add({.family = "algorithm",
             .id = id,
             .name = name,
             .operators = {"Conv"},
             .witness = witness<outputs, kernel_size>});
}

}  // namespace

void add_to(VariantTable& table) {
  add<2, 3>(table, "winograd-f2x3", "Winograd F(2,3)");
  add<4, 3>(table, "winograd-f4x3", "Winograd F(4,3)");
  add<6, 3>(table, "winograd-f6x3", "Winograd F(6,3)");
  add<2, 5>(table, "winograd-f2x5", "Winograd F(2,5)");
  add<4, 5>(table, "winograd-f4x5", "Winograd F(4,5)");
}

}  // namespace driftscope::variants::winograd
