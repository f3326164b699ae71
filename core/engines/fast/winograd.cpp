#include "core/engines/fast/winograd.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "core/platform/large_pages.hpp"

namespace driftscope::fast {
namespace {

constexpr std::int64_t largest_input = 8;  // n
constexpr std::int64_t largest_kernel = 5;

/// Kernels that are transformed together: the loops over them become vector instructions.
constexpr std::int64_t kernels_together = 8;
using Lane = std::array<double, kernels_together>;

void add_product(double factor, const Lane& x, Lane& sum) {
  for (std::size_t j = 0; j < x.size(); ++j) sum[j] += factor * x[j];
}

/// G·w·Gᵀ, n×n, of `w` r×r.
void transform_kernels(const WinogradMatrices& matrices, const Lane* w, Lane* u) {
  const std::size_t n = matrices.tile();
  const std::size_t r = matrices.kernel_size;
  std::array<Lane, largest_input * largest_kernel> half;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t l = 0; l < r; ++l) {
      Lane& sum = half[i * r + l];
      sum.fill(0.0);
      for (std::size_t k = 0; k < r; ++k) add_product(matrices.kernel[i * r + k], w[k * r + l], sum);
    }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      Lane& sum = u[i * n + j];
      sum.fill(0.0);
      for (std::size_t l = 0; l < r; ++l) add_product(matrices.kernel[j * r + l], half[i * r + l], sum);
    }
}

/// Gᵀ back: w of one row or column of u, `step` apart.
void recover_row(const WinogradMatrices& matrices, const double* u, std::size_t step, double* w,
                 std::size_t to) {
  const auto at = [&](std::size_t i) { return u[i * step] / matrices.factors[i]; };
  w[0] = at(0);
  const double last = u[(matrices.tile() - 1) * step];
  w[(matrices.kernel_size - 1) * to] = last;
  const double odd = (at(1) - at(2)) / 2;
  if (matrices.kernel_size == 3) {
    w[to] = odd;
    return;
  }
  const double third = ((at(3) - at(4)) / 2 - 2 * odd) / 6;  // at ±2: 2·w₁ + 8·w₃
  w[to] = odd - third;
  w[2 * to] = (at(1) + at(2)) / 2 - w[0] - last;
  w[3 * to] = third;
}

/// The kernel r×r of G·w·Gᵀ, up to rounding.
void recover_kernel(const WinogradMatrices& matrices, const double* u, double* w) {
  const std::size_t n = matrices.tile();
  std::array<double, largest_input * largest_kernel> half;
  for (std::size_t j = 0; j < n; ++j) recover_row(matrices, u + j, n, half.data() + j, n);
  for (std::size_t k = 0; k < matrices.kernel_size; ++k)
    recover_row(matrices, half.data() + k * n, 1, w + k * matrices.kernel_size, 1);
}

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Rows and elements whose lengths are multiples of 4 KB would share a few sets of the first-level cache.
constexpr std::int64_t row_padding = 16;

// Costs in multiplications with addition, fitted to tests/bench/winograd_bench.cpp (AVX2): moving an element
// through a transform, and reading a weight, which lies in memory when its turn comes again.
constexpr double transform_cost = 12.0;
constexpr double weight_cost = 4.0;
// What is gained must be more than estimates err by.
constexpr double worthwhile = 0.85;

// V and M of the tiles that are computed together; larger blocks read the weights less often.
constexpr std::int64_t block_bytes = std::int64_t{1} << 20;
// With fewer tiles for each thread, in blocks of the product, threads share the outputs.
constexpr std::int64_t min_blocks_of_thread = 2;

}  // namespace

std::string winograd_name(const WinogradTile& tile) {
  return driftscope::winograd_name(static_cast<std::size_t>(tile.output),
                                   static_cast<std::size_t>(tile.kernel));
}

std::int64_t WinogradShape::tiles(const WinogradTile& tile) const {
  return batch * divided_up(window.height.output, tile.output) * divided_up(window.width.output, tile.output);
}

std::vector<WinogradTile> winograd_tiles(const WinogradShape& shape, std::int64_t groups,
                                         const WinogradKernels& kernels) {
  const WindowAxis& rows = shape.window.height;
  const WindowAxis& columns = shape.window.width;
  const auto simple = [](const WindowAxis& axis) { return axis.stride == 1 && axis.dilation == 1; };
  if (groups != 1 || rows.kernel != columns.kernel || !simple(rows) || !simple(columns)) return {};
  const auto lanes = static_cast<std::int64_t>(kernels.lanes);
  if (shape.inputs < lanes || shape.outputs < lanes) return {};
  if (rows.kernel == 3) return {{2, 3}, {4, 3}};
  if (rows.kernel == 5) return {{2, 5}, {4, 5}};
  return {};
}

std::optional<WinogradTile> choose_winograd(const WinogradShape& shape, std::int64_t groups,
                                            const WinogradKernels& kernels, WinogradChoice choice) {
  if (choice == WinogradChoice::off) return std::nullopt;
  const auto taps = static_cast<double>(shape.window.height.kernel * shape.window.width.kernel);
  const double weights = static_cast<double>(shape.inputs) * static_cast<double>(shape.outputs);
  const double pixels = static_cast<double>(shape.batch * shape.window.height.output) *
                        static_cast<double>(shape.window.width.output);
  double least = worthwhile * taps * weights * (pixels + weight_cost);
  std::optional<WinogradTile> chosen;
  for (const WinogradTile& tile : winograd_tiles(shape, groups, kernels)) {
    const auto elements = static_cast<double>(tile.elements());
    if (choice == WinogradChoice::small && elements >= 2 * taps) continue;
    const auto tiles = static_cast<double>(shape.tiles(tile));
    const auto columns = static_cast<double>(kernels.columns);
    const double padded = std::ceil(static_cast<double>(shape.outputs) / columns) * columns;
    const auto channels = static_cast<double>(shape.inputs + shape.outputs);
    const double cost =
        elements * (tiles * (static_cast<double>(shape.inputs) * padded + transform_cost * channels) +
                    weight_cost * weights);
    if (cost >= least) continue;
    least = cost;
    chosen = tile;
  }
  return chosen;
}

WinogradConvolution::WinogradConvolution(const WinogradShape& shape, const WinogradTile& tile,
                                         const WinogradKernels& kernels, const float* weights,
                                         const float* bias, float min, float max, ThreadPool& threads)
    : shape_(shape),
      tile_(tile),
      matrices_(
          winograd_matrices(static_cast<std::size_t>(tile.output), static_cast<std::size_t>(tile.kernel))),
      kernels_(kernels),
      threads_(threads),
      panels_(divided_up(shape.outputs, static_cast<std::int64_t>(kernels.columns))),
      down_(divided_up(shape.window.height.output, tile.output)),
      across_(divided_up(shape.window.width.output, tile.output)),
      v_element_(shape.inputs),
      m_element_(panels_ * static_cast<std::int64_t>(kernels.columns)),
      weights_element_(shape.inputs * m_element_ + row_padding),
      v_row_(tile.elements() * v_element_ + row_padding),
      m_row_(tile.elements() * m_element_ + row_padding),
      bias_(static_cast<std::size_t>(shape.outputs), 0.0f),
      zeros_(static_cast<std::size_t>(shape.inputs), 0.0f),
      min_(min),
      max_(max) {
  plan(threads.size());
  if (bias != nullptr) std::copy_n(bias, shape.outputs, bias_.begin());
  pack(weights);
}

std::int64_t WinogradConvolution::weight_bytes() const {
  return weights_.size() * static_cast<std::int64_t>(sizeof(float));
}

void WinogradConvolution::pack(const float* weights) {
  weights_ = AlignedFloats(tile_.elements() * weights_element_);
  prefer_large_pages(weights_.data(), static_cast<std::size_t>(weight_bytes()));
  threads_.parallel_for(panels_, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) pack_panel(weights, p);
  });
}

void WinogradConvolution::pack_panel(const float* weights, std::int64_t panel) {
  const auto columns = static_cast<std::int64_t>(kernels_.columns);
  for (std::int64_t c = 0; c < shape_.inputs; ++c)
    for (std::int64_t first = 0; first < columns; first += kernels_together)
      pack_kernels(weights, panel * columns + first, std::min(kernels_together, columns - first), c,
                   weights_.data() + (panel * shape_.inputs + c) * columns + first);
}

void WinogradConvolution::pack_kernels(const float* weights, std::int64_t output, std::int64_t count,
                                       std::int64_t input, float* to) const {
  const std::int64_t taps = tile_.kernel * tile_.kernel;
  const std::int64_t there = std::clamp<std::int64_t>(shape_.outputs - output, 0, count);
  std::array<Lane, largest_kernel * largest_kernel> w;
  std::array<Lane, largest_input * largest_input> u;
  if (there < kernels_together)
    for (Lane& lane : w) lane.fill(0.0);
  for (std::int64_t j = 0; j < there; ++j)
    for (std::int64_t tap = 0; tap < taps; ++tap)
      w[static_cast<std::size_t>(tap)][static_cast<std::size_t>(j)] =
          static_cast<double>(weights[((output + j) * shape_.inputs + input) * taps + tap]);
  transform_kernels(matrices_, w.data(), u.data());
  for (std::int64_t e = 0; e < tile_.elements(); ++e)
    for (std::int64_t j = 0; j < count; ++j)
      to[e * weights_element_ + j] =
          static_cast<float>(u[static_cast<std::size_t>(e)][static_cast<std::size_t>(j)]);
}

// A thread takes blocks of tiles through all three parts, in memory of its own: no other one waits for it,
// and nothing moves between caches. With few tiles, whose weights are the work, threads share the outputs.
void WinogradConvolution::plan(int threads) {
  const auto rows = static_cast<std::int64_t>(kernels_.rows);
  const std::int64_t tiles = shape_.tiles(tile_);
  const auto bytes_of_tile = static_cast<std::int64_t>(sizeof(float)) * (v_row_ + m_row_);
  const std::int64_t fitting = std::max<std::int64_t>(1, block_bytes / bytes_of_tile / rows) * rows;
  by_outputs_ = threads > 1 && tiles < min_blocks_of_thread * rows * threads && ranges() >= threads;
  const std::int64_t shares = by_outputs_ ? 1 : threads;
  // Blocks of about the same size, as many for each thread.
  const std::int64_t rounds = divided_up(tiles, fitting * shares);
  block_ = divided_up(tiles, rounds * shares);
  if (rounds > 1) block_ = divided_up(block_, rows) * rows;
  slots_ = std::min(shares, divided_up(tiles, block_));
}

// Of panels that threads share: the outputs of each fill a vector.
std::int64_t WinogradConvolution::ranges() const {
  const std::int64_t in_last = shape_.outputs - (panels_ - 1) * static_cast<std::int64_t>(kernels_.columns);
  return in_last < static_cast<std::int64_t>(kernels_.lanes) ? panels_ - 1 : panels_;
}

void WinogradConvolution::run(const float* x, const float* addend, float* y, float* scratch) const {
  const Operands operands{x, addend, y};
  if (by_outputs_)
    run_by_outputs(operands, scratch);
  else
    run_by_tiles(operands, scratch);
}

void WinogradConvolution::run_by_tiles(const Operands& it, float* scratch) const {
  const std::int64_t tiles = shape_.tiles(tile_);
  std::atomic<std::int64_t> next = 0;
  threads_.parallel_for(slots_, 1, [&](std::int64_t slot, std::int64_t end) {
    for (; slot < end; ++slot) {
      float* v = scratch + slot * block_ * (v_row_ + m_row_);
      float* m = v + block_ * v_row_;
      for (std::int64_t first = next.fetch_add(block_); first < tiles; first = next.fetch_add(block_)) {
        const Range range{first, std::min(first + block_, tiles)};
        transform_inputs(it.x, range, v);
        multiply(range.size(), {0, panels_}, v, m);
        transform_outputs(it, range, {0, panels_}, m);
      }
    }
  });
}

void WinogradConvolution::run_by_outputs(const Operands& it, float* scratch) const {
  float* v = scratch;
  float* m = scratch + block_ * v_row_;
  const std::int64_t tiles = shape_.tiles(tile_);
  for (std::int64_t first = 0; first < tiles; first += block_) {
    const Range range{first, std::min(first + block_, tiles)};
    threads_.parallel_for(range.size(), 1, [&](std::int64_t begin, std::int64_t end) {
      transform_inputs(it.x, {first + begin, first + end}, v + begin * v_row_);
    });
    threads_.parallel_for(ranges(), 1, [&](std::int64_t begin, std::int64_t end) {
      const Range panels{begin, end == ranges() ? panels_ : end};
      multiply(range.size(), panels, v, m);
      transform_outputs(it, range, panels, m);
    });
  }
}

void WinogradConvolution::transform_inputs(const float* x, Range tiles, float* v) const {
  const std::int64_t n = tile_.input();
  const WindowAxis& rows = shape_.window.height;
  const WindowAxis& columns = shape_.window.width;
  std::array<const float*, largest_input * largest_input> pixels = {};
  WinogradInput it{.pixels = pixels.data(),
                   .channels = static_cast<std::size_t>(shape_.inputs),
                   .v = v,
                   .element = static_cast<std::size_t>(v_element_)};
  const WinogradInputKernel transform = kernels_.input(static_cast<std::size_t>(n));
  for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile, it.v += v_row_) {
    const float* image = x + tile / (down_ * across_) * rows.input * columns.input * shape_.inputs;
    const std::int64_t top = rows.at(tile / across_ % down_ * tile_.output, 0);
    const std::int64_t left = columns.at(tile % across_ * tile_.output, 0);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t row = top + i;
        const std::int64_t column = left + j;
        const bool inside = row >= 0 && row < rows.input && column >= 0 && column < columns.input;
        pixels[static_cast<std::size_t>(i * n + j)] =
            inside ? image + (row * columns.input + column) * shape_.inputs : zeros_.data();
      }
    transform(it);
  }
}

void WinogradConvolution::multiply(std::int64_t tiles, Range panels, const float* v, float* m) const {
  const auto columns = static_cast<std::int64_t>(kernels_.columns);
  for (std::int64_t element = 0; element < tile_.elements(); ++element)
    kernels_.product(
        {.v = v + element * v_element_,
         .v_row = static_cast<std::size_t>(v_row_),
         .u = weights_.data() + element * weights_element_ + panels.begin * shape_.inputs * columns,
         .m = m + element * m_element_ + panels.begin * columns,
         .m_row = static_cast<std::size_t>(m_row_),
         .tiles = static_cast<std::size_t>(tiles),
         .depth = static_cast<std::size_t>(shape_.inputs),
         .panels = static_cast<std::size_t>(panels.size())});
}

void WinogradConvolution::transform_outputs(const Operands& it, Range tiles, Range panels,
                                            const float* m) const {
  const std::int64_t size = tile_.output;
  const std::int64_t height = shape_.window.height.output;
  const std::int64_t width = shape_.window.width.output;
  const auto columns = static_cast<std::int64_t>(kernels_.columns);
  const Range outputs{panels.begin * columns, std::min(panels.end * columns, shape_.outputs)};
  std::array<float*, largest_input * largest_input> pixels = {};
  std::array<const float*, largest_input * largest_input> addends = {};
  WinogradOutput tile_at{.m = m + outputs.begin,
                         .element = static_cast<std::size_t>(m_element_),
                         .pixels = pixels.data(),
                         .addends = it.addend == nullptr ? nullptr : addends.data(),
                         .channels = static_cast<std::size_t>(outputs.size()),
                         .bias = bias_.data() + outputs.begin,
                         .min = min_,
                         .max = max_};
  const WinogradOutputKernel transform =
      kernels_.output(static_cast<std::size_t>(tile_.input()), static_cast<std::size_t>(size));
  for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile, tile_at.m += m_row_) {
    const std::int64_t number = tile / (down_ * across_);
    const std::int64_t image = number * height * width * shape_.outputs + outputs.begin;
    const std::int64_t top = tile / across_ % down_ * size;
    const std::int64_t left = tile % across_ * size;
    for (std::int64_t i = 0; i < size * size; ++i) {
      const std::int64_t row = top + i / size;
      const std::int64_t column = left + i % size;
      const bool inside = row < height && column < width;
      const std::int64_t at = image + (row * width + column) * shape_.outputs;
      pixels[static_cast<std::size_t>(i)] = inside ? it.y + at : nullptr;
      if (inside && it.addend != nullptr) addends[static_cast<std::size_t>(i)] = it.addend + at;
    }
    if (transform(tile_at)) continue;
    const std::int64_t input = number * shape_.window.height.input * shape_.window.width.input;
    compute_directly(it.x + input * shape_.inputs, top, left, outputs, pixels.data(), tile_at.addends);
  }
}

// A tile of which an output is not finite: the transforms spread NaN and infinity over all of it, and
// subtract infinities. `pixels`: each at the first of `outputs`.
void WinogradConvolution::compute_directly(const float* image, std::int64_t top, std::int64_t left,
                                           Range outputs, float* const* pixels,
                                           const float* const* addends) const {
  const auto columns = static_cast<std::int64_t>(kernels_.columns);
  const std::int64_t r = tile_.kernel;
  const std::int64_t size = tile_.output;
  const WindowAxis& rows = shape_.window.height;
  const WindowAxis& across = shape_.window.width;
  std::array<double, largest_input * largest_input> u;
  std::array<double, largest_kernel * largest_kernel> w;
  std::array<double, largest_input * largest_input> sums;
  for (std::int64_t o = outputs.begin; o < outputs.end; ++o) {
    sums.fill(static_cast<double>(bias_[static_cast<std::size_t>(o)]));
    for (std::int64_t c = 0; c < shape_.inputs; ++c) {
      const float* from = weights_.data() + (o / columns * shape_.inputs + c) * columns + o % columns;
      for (std::int64_t e = 0; e < tile_.elements(); ++e)
        u[static_cast<std::size_t>(e)] = static_cast<double>(from[e * weights_element_]);
      recover_kernel(matrices_, u.data(), w.data());
      for (std::int64_t i = 0; i < size * size; ++i) {
        if (pixels[i] == nullptr) continue;
        for (std::int64_t tap = 0; tap < r * r; ++tap) {
          const std::int64_t row = rows.at(top + i / size, tap / r);
          const std::int64_t column = across.at(left + i % size, tap % r);
          if (row < 0 || row >= rows.input || column < 0 || column >= across.input) continue;
          const float value = image[(row * across.input + column) * shape_.inputs + c];
          sums[static_cast<std::size_t>(i)] += static_cast<double>(value) * w[static_cast<std::size_t>(tap)];
        }
      }
    }
    for (std::int64_t i = 0; i < size * size; ++i) {
      if (pixels[i] == nullptr) continue;
      const std::int64_t at = o - outputs.begin;
      auto sum = static_cast<float>(sums[static_cast<std::size_t>(i)]);
      if (addends != nullptr) sum += addends[i][at];
      pixels[i][at] = sum < min_ ? min_ : sum > max_ ? max_ : sum;  // NaN stays
    }
  }
}

}  // namespace driftscope::fast
