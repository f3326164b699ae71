// com.microsoft MatMulNBits with constant weights. They stay in their 2, 4 or 8 bits, rearranged in panels
// of columns, and are decoded some rows of a few panels at a time, which the micro kernel of simd/gemm then
// reads from the cache: a model of a few bits takes few bytes, and with one row of A little is read.
// The scalar kernel (core/ops/shared/weight_product.hpp): a weight is (q − zero)·scale, sums start at +0 with
// k ascending, then the bias is added.
#include <algorithm>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/packing.hpp"
#include "core/engines/strict/scratch.hpp"
#include "core/engines/strict/simd/decode.hpp"
#include "core/ops/shared/matmul_nbits.hpp"

namespace driftscope::strict::matmul_nbits {

constexpr std::int64_t rows_at_once = 256;       // of weights, decoded before they are multiplied: even
constexpr std::int64_t panels_at_once = 4;       // as many as the micro kernel reads side by side
constexpr std::int64_t steps_per_chunk = 65536;  // worth a separate task

// Weights of N columns in panels: for each, its steps by k, and scale and zero point by block.
class PackedSteps {
 public:
  PackedSteps(const NBitsLayout& layout, std::int64_t width, const std::vector<std::int64_t>& groups)
      : layout_(layout),
        width_(width),
        groups_(groups.begin(), groups.end()),
        steps_(panels() * panel_bytes()),
        scales_(panels() * layout.blocks() * width),
        zeros_(panels() * layout.blocks() * width) {
    std::fill_n(steps_.data(), steps_.size(), std::uint8_t{0});
    std::fill_n(scales_.data(), scales_.size(), 0.0f);
    std::fill_n(zeros_.data(), zeros_.size(), 0.0f);
  }

  [[nodiscard]] std::int64_t panels() const { return (layout_.columns + width_ - 1) / width_; }
  [[nodiscard]] bool nibbles() const { return layout_.bits < 8; }

  /// Column n belongs to one panel alone: columns of different panels may be packed on any thread.
  void pack(std::int64_t n, const NBitsWeights& weights) {
    const std::int64_t blocks = layout_.blocks();
    const std::int64_t lane = n % width_;
    std::uint8_t* steps = steps_.data() + n / width_ * panel_bytes() + lane;
    for (std::int64_t k = 0; k < layout_.depth; ++k) {
      const std::uint8_t step = weights.step(k, n);
      std::uint8_t& to = steps[(nibbles() ? k / 2 : k) * width_];
      to = static_cast<std::uint8_t>(nibbles() && k % 2 != 0 ? to | step << 4 : step);
    }
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t at = (n / width_ * blocks + block) * width_ + lane;
      scales_.data()[at] = weights.scale(block, n);
      zeros_.data()[at] = weights.zero(block, n);
    }
  }

  /// Rows [k, k + rows) of a panel; k is even.
  [[nodiscard]] StepsBlock block(std::int64_t panel, std::int64_t k, std::int64_t rows) const {
    const std::int64_t parameters = panel * layout_.blocks() * width_;
    return {.steps = steps_.data() + panel * panel_bytes() + (nibbles() ? k / 2 : k) * width_,
            .groups = groups_.data() + k,
            .scales = scales_.data() + parameters,
            .zeros = zeros_.data() + parameters,
            .rows = static_cast<std::size_t>(rows),
            .width = static_cast<std::size_t>(width_)};
  }

 private:
  [[nodiscard]] std::int64_t panel_bytes() const {
    return (nibbles() ? (layout_.depth + 1) / 2 : layout_.depth) * width_;
  }

  NBitsLayout layout_;
  std::int64_t width_;
  std::vector<std::int32_t> groups_;
  AlignedArray<std::uint8_t> steps_;
  AlignedFloats scales_;
  AlignedFloats zeros_;
};

class NBitsKernel final : public StrictKernel {
 public:
  NBitsKernel(const StrictSite& site, const NBitsLayout& layout, std::vector<std::int64_t> groups)
      : site_(site),
        layout_(layout),
        kernels_(gemm_kernels(site.simd)),
        decode_(decode_kernels(site.simd)),
        steps_(layout, kernels_.columns, groups),
        y_shape_(*site.output_shape()) {
    for (std::int64_t k = 0; k < rows_at_once; ++k)
      offsets_.push_back(static_cast<std::ptrdiff_t>(k * kernels_.columns));
    pack({layout, std::move(groups), *site.constant(1), *site.constant(2),
          site.has_input(3) ? site.constant(3) : nullptr});
  }

  // Scales and zero points are small, and are kept for other sizes of A: the scalar kernel reads them.
  [[nodiscard]] bool reads(std::size_t input) const override { return input != 1; }

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, y_shape_, "output Y"));  // all +0
    const std::int64_t rows = y.elements() / layout_.columns;
    const PackedRows a(kernels_,
                       {.data = inputs[0]->values<float>().data(),
                        .rows = rows,
                        .columns = layout_.depth,
                        .row_step = layout_.depth},
                       site_.threads);
    float* out = y.mutable_values<float>().data();
    if (layout_.columns % kernels_.lanes == 0) {
      multiply(a, out, layout_.columns);
    } else {  // the micro kernel writes whole vectors
      const std::int64_t stride = (layout_.columns / kernels_.lanes + 1) * kernels_.lanes;
      const AlignedFloats wide(rows * stride);
      std::fill_n(wide.data(), rows * stride, 0.0f);
      multiply(a, wide.data(), stride);
      for (std::int64_t i = 0; i < rows; ++i)
        std::copy_n(wide.data() + i * stride, layout_.columns, out + i * layout_.columns);
    }
    if (site_.has_input(5)) add_bias(inputs[5]->values<float>(), y.mutable_values<float>());
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    return outputs;
  }

 private:
  void pack(const NBitsWeights& weights) {
    // Neighbouring columns share bytes of a panel: one task packs whole panels.
    site_.threads.parallel_for(steps_.panels(), 1, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t last = std::min(layout_.columns, end * kernels_.columns);
      for (std::int64_t n = begin * kernels_.columns; n < last; ++n) steps_.pack(n, weights);
    });
  }

  void multiply(const PackedRows& a, float* y, std::int64_t stride) const {
    const std::int64_t groups = (steps_.panels() + panels_at_once - 1) / panels_at_once;
    ScratchPool scratch(site_.threads.size(), panels_at_once * rows_at_once * kernels_.columns);
    const std::int64_t cost = panels_at_once * kernels_.columns * layout_.depth;
    site_.threads.parallel_for(groups, std::max<std::int64_t>(1, steps_per_chunk / cost),
                               [&](std::int64_t begin, std::int64_t end) {
                                 const ScratchPool::Lease lease(scratch);
                                 for (std::int64_t group = begin; group < end; ++group)
                                   multiply_panels(a, group * panels_at_once, lease.data(), y, stride);
                               });
  }

  void multiply_panels(const PackedRows& a, std::int64_t first, float* decoded, float* y,
                       std::int64_t stride) const {
    const std::int64_t panels = std::min(panels_at_once, steps_.panels() - first);
    const std::int64_t column = first * kernels_.columns;
    const std::int64_t panel_size = rows_at_once * kernels_.columns;
    const auto decode = steps_.nibbles() ? decode_.nibbles : decode_.bytes;
    for (std::int64_t k = 0; k < layout_.depth; k += rows_at_once) {
      const std::int64_t depth = std::min(rows_at_once, layout_.depth - k);
      for (std::int64_t p = 0; p < panels; ++p)
        decode(steps_.block(first + p, k, depth), decoded + p * panel_size);
      for (std::int64_t row = 0; row < a.rows(); row += kernels_.rows) {
        const std::int64_t rows = std::min<std::int64_t>(kernels_.rows, a.rows() - row);
        kernels_.accumulate({.a = a.panel(row) + k * rows,
                             .rows = rows,
                             .depth = depth,
                             .b = decoded,
                             .offsets = offsets_.data(),
                             .b_panel = panel_size,
                             .c = y + row * stride + column,
                             .c_stride = stride,
                             .columns = std::min(panels * kernels_.columns, layout_.columns - column)});
      }
    }
  }

  void add_bias(std::span<const float> bias, std::span<float> y) const {
    for (std::size_t i = 0; i < y.size(); i += bias.size())
      for (std::size_t j = 0; j < bias.size(); ++j) y[i + j] = y[i + j] + bias[j];
  }

  StrictSite site_;
  NBitsLayout layout_;
  GemmKernels kernels_;
  DecodeKernels decode_;
  PackedSteps steps_;
  Shape y_shape_;
  std::vector<std::ptrdiff_t> offsets_;  // of the rows of decoded panels
};

std::unique_ptr<StrictKernel> prepare(const StrictSite& site) {
  const auto layout = read_nbits_layout(site.node);
  const auto output = site.output_shape();
  if (!layout.ok() || !output || element_count(*output) == 0) return nullptr;
  for (const std::size_t i : {1u, 2u, 3u, 4u})
    if (site.has_input(i) && site.constant(i) == nullptr) return nullptr;
  for (const std::size_t i : {0u, 2u, 5u})
    if (site.has_input(i) && site.dtype(i) != DType::float32) return nullptr;
  if (site.has_input(3) && site.dtype(3) != DType::uint8 && site.dtype(3) != DType::float32) return nullptr;
  auto groups = nbits_groups(site.has_input(4) ? site.constant(4) : nullptr, *layout);
  if (!groups.ok()) return nullptr;
  return std::make_unique<NBitsKernel>(site, *layout, *std::move(groups));
}

void add_to(StrictKernelTable& table) {
  table.add("com.microsoft.MatMulNBits", {.prepare = prepare, .packed = 1});
}

}  // namespace driftscope::strict::matmul_nbits
