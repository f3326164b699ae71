// Conv with one or two spatial axes on simd/gemm: for each sample and group C = bias + W·T, where
// row (channel, kh, kw) of T is that tap of all windows (window_grid), in the order of W's memory.
//
// The plain kernel leaves out taps in the padding; here they add w·(+0) = ±0. That changes nothing
// while w is finite and the accumulator is not −0, and an accumulator is −0 only as long as it
// began as a bias of −0. Other weights and biases go to the plain kernel where there is padding.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/packing.hpp"
#include "core/engines/strict/scratch.hpp"
#include "core/engines/strict/window_grid.hpp"
#include "core/ops/evaluate.hpp"

namespace driftscope::strict::conv {

constexpr std::int64_t products_per_chunk = 131072;    // worth handing to a thread
constexpr std::int64_t floats_per_copy = 16384;
constexpr std::int64_t floats_per_block = 32768;       // accumulators that stay in the cache
constexpr std::int64_t rows_per_block = 96;            // a multiple of every micro tile's rows
constexpr std::int64_t floats_at_once = std::int64_t{1} << 22;  // of copied samples

bool padding_changes_nothing(std::span<const float> w, std::span<const float> bias) {
  return std::all_of(w.begin(), w.end(), [](float x) { return std::isfinite(x); }) &&
         std::none_of(bias.begin(), bias.end(), [](float b) {
           return std::bit_cast<std::uint32_t>(b) == 0x80000000u;
         });
}

struct Sizes {
  std::int64_t samples;
  std::int64_t groups;
  std::int64_t channels;  // of X per group
  std::int64_t outputs;   // channels of Y per group
  std::int64_t depth;     // channels · taps
};

// Windows whose tap runs are one piece: whole output rows, or a part of one.
struct Block {
  std::int64_t row;
  std::int64_t rows;
  std::int64_t column;
  std::int64_t columns;
};

class ConvKernel final : public StrictKernel {
 public:
  ConvKernel(const StrictSite& site, const Sizes& sizes, WindowGrid grid)
      : site_(site),
        sizes_(sizes),
        grid_(std::move(grid)),
        kernels_(gemm_kernels(site.simd)),
        y_shape_(*site.output_shape()) {
    for (std::int64_t c = 0; c < sizes_.channels; ++c)
      for (std::int64_t kh = 0; kh < grid_.vertical().kernel; ++kh)
        for (std::int64_t kw = 0; kw < grid_.horizontal().kernel; ++kw)
          offsets_.push_back(
              static_cast<std::ptrdiff_t>(c * grid_.plane_size() + grid_.tap_offset(kh, kw)));
    cut_into_blocks();
    if (const Tensor* w = site.constant(1)) weights_ = pack(w->values<float>());
  }

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    const auto x = inputs[0]->values<float>();
    const auto w = inputs[1]->values<float>();
    const auto bias = inputs.size() > 2 && inputs[2] != nullptr ? inputs[2]->values<float>()
                                                                : std::span<const float>();
    if (grid_.has_padding() && !padding_is_known_harmless(w, bias))
      return evaluate_strict(site_.node, inputs, site_.threads);
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, y_shape_, "output Y"));
    if (site_.constant(1) == nullptr) weights_ = pack(w);

    const std::int64_t planes = sizes_.groups * sizes_.channels;
    const std::int64_t sample_size = planes * grid_.plane_size();
    const std::int64_t at_once = std::clamp<std::int64_t>(
        floats_at_once / std::max<std::int64_t>(1, sample_size), 1, sizes_.samples);
    AlignedFloats taps(at_once * sample_size + kernels_.columns);
    std::fill(taps.data() + at_once * sample_size, taps.data() + taps.size(), 0.0f);
    ScratchPool scratch(site_.threads.size(), scratch_size());
    float* out = y.mutable_values<float>().data();
    for (std::int64_t first = 0; first < sizes_.samples; first += at_once) {
      const std::int64_t count = std::min(at_once, sizes_.samples - first);
      copy_planes(x.data() + first * planes * grid_.input_size(), count * planes, taps.data());
      const std::int64_t sample_outputs = sizes_.groups * sizes_.outputs * grid_.output_size();
      multiply(taps.data(), count, bias, out + first * sample_outputs, scratch);
    }
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    return outputs;
  }

 private:
  bool padding_is_known_harmless(std::span<const float> w, std::span<const float> bias) {
    const bool constant =
        site_.constant(1) != nullptr && (bias.empty() || site_.constant(2) != nullptr);
    if (!constant) return padding_changes_nothing(w, bias);
    if (!harmless_) harmless_ = padding_changes_nothing(w, bias);
    return *harmless_;
  }

  std::vector<PackedRows> pack(std::span<const float> w) const {
    std::vector<PackedRows> packed;
    for (std::int64_t g = 0; g < sizes_.groups; ++g)
      packed.emplace_back(kernels_,
                          MatrixView{.data = w.data() + g * sizes_.outputs * sizes_.depth,
                                     .rows = sizes_.outputs,
                                     .columns = sizes_.depth,
                                     .row_step = sizes_.depth},
                          site_.threads);
    return packed;
  }

  // How many blocks a plane needs for every thread to have a few, none too small to hand over.
  std::int64_t blocks_for_threads() const {
    const std::int64_t threads = site_.threads.size();
    if (threads == 1) return 1;
    const std::int64_t row_blocks = (sizes_.outputs + block_outputs_ - 1) / block_outputs_;
    const std::int64_t planes = sizes_.samples * sizes_.groups * row_blocks;
    const std::int64_t worth =
        block_outputs_ * grid_.output_size() * sizes_.depth / products_per_chunk;
    return std::clamp<std::int64_t>((4 * threads + planes - 1) / planes, 1,
                                    std::max<std::int64_t>(1, worth));
  }

  void cut_into_blocks() {
    block_outputs_ = std::min(rows_per_block, sizes_.outputs);
    const std::int64_t height = grid_.vertical().output;
    const std::int64_t width = grid_.horizontal().output;
    std::int64_t wanted =
        std::max<std::int64_t>(floats_per_block / block_outputs_, 4 * kernels_.columns);
    wanted = std::clamp(height * grid_.pitch() / blocks_for_threads(),
                        std::min<std::int64_t>(2 * kernels_.columns, wanted), wanted);
    if (grid_.pitch() > wanted) {
      for (std::int64_t row = 0; row < height; ++row)
        for (std::int64_t column = 0; column < width; column += wanted)
          blocks_.push_back({row, 1, column, std::min(wanted, width - column)});
      return;
    }
    const std::int64_t rows = wanted / grid_.pitch();
    for (std::int64_t row = 0; row < height; row += rows)
      blocks_.push_back({row, std::min(rows, height - row), 0, width});
  }

  // Columns of the product for a block, those between the rows included.
  std::int64_t run_length(const Block& block) const {
    return (block.rows - 1) * grid_.pitch() + block.columns;
  }
  std::int64_t scratch_stride(const Block& block) const {
    return (run_length(block) + kernels_.columns - 1) / kernels_.columns * kernels_.columns;
  }
  std::int64_t scratch_size() const {
    std::int64_t most = 0;
    for (const Block& block : blocks_) most = std::max(most, scratch_stride(block));
    return most * block_outputs_;
  }

  void copy_planes(const float* x, std::int64_t count, float* taps) const {
    const std::int64_t size = grid_.plane_size();
    site_.threads.parallel_for(count, std::max<std::int64_t>(1, floats_per_copy / size),
                               [&](std::int64_t begin, std::int64_t end) {
                                 for (std::int64_t i = begin; i < end; ++i)
                                   grid_.copy_plane(x + i * grid_.input_size(), taps + i * size,
                                                    0.0f);
                               });
  }

  void multiply(const float* taps, std::int64_t samples, std::span<const float> bias, float* y,
                ScratchPool& scratch) const {
    const auto blocks = static_cast<std::int64_t>(blocks_.size());
    const std::int64_t row_blocks = (sizes_.outputs + block_outputs_ - 1) / block_outputs_;
    const std::int64_t tasks = samples * sizes_.groups * row_blocks * blocks;
    const std::int64_t cost = block_outputs_ * run_length(blocks_.front()) * sizes_.depth;
    site_.threads.parallel_for(
        tasks, std::max<std::int64_t>(1, products_per_chunk / std::max<std::int64_t>(1, cost)),
        [&](std::int64_t begin, std::int64_t end) {
          const ScratchPool::Lease lease(scratch);
          for (std::int64_t task = begin; task < end; ++task) {
            const Block& block = blocks_[static_cast<std::size_t>(task % blocks)];
            const std::int64_t first = task / blocks % row_blocks * block_outputs_;
            const std::int64_t plane = task / blocks / row_blocks;  // sample and group
            compute(block, taps + plane * sizes_.channels * grid_.plane_size(),
                    plane % sizes_.groups, first, bias, lease.data(),
                    y + (plane * sizes_.outputs + first) * grid_.output_size());
          }
        });
  }

  // Output channels [first, first + block_outputs_) of group g for one block of windows.
  void compute(const Block& block, const float* taps, std::int64_t g, std::int64_t first,
               std::span<const float> bias, float* sums, float* y) const {
    const std::int64_t count = std::min(block_outputs_, sizes_.outputs - first);
    const std::int64_t stride = scratch_stride(block);
    for (std::int64_t m = 0; m < count; ++m) {
      const auto channel = static_cast<std::size_t>(g * sizes_.outputs + first + m);
      std::fill_n(sums + m * stride, stride, bias.empty() ? 0.0f : bias[channel]);
    }
    kernels_.accumulate({.a = weights_[static_cast<std::size_t>(g)].panel(first),
                         .rows = count,
                         .depth = sizes_.depth,
                         .b = taps + block.row * grid_.pitch() + block.column,
                         .offsets = offsets_.data(),
                         .b_panel = kernels_.columns,
                         .c = sums,
                         .c_stride = stride,
                         .columns = run_length(block)});
    const std::int64_t width = grid_.horizontal().output;
    for (std::int64_t m = 0; m < count; ++m)
      for (std::int64_t row = 0; row < block.rows; ++row)
        std::copy_n(sums + m * stride + row * grid_.pitch(), block.columns,
                    y + m * grid_.output_size() + (block.row + row) * width + block.column);
  }

  StrictSite site_;
  Sizes sizes_;
  WindowGrid grid_;
  GemmKernels kernels_;
  Shape y_shape_;
  std::vector<std::ptrdiff_t> offsets_;
  std::vector<Block> blocks_;
  std::int64_t block_outputs_ = 1;
  std::vector<PackedRows> weights_;  // per group
  std::optional<bool> harmless_;     // of constant weights and biases
};

std::unique_ptr<StrictKernel> prepare(const StrictSite& site) {
  if (!site.all_float32()) return nullptr;
  const Shape x = *site.shape(0);
  const Shape w = *site.shape(1);
  const auto group = int_attribute(site.node, "group", 1);
  const auto window = read_window(site.node, Ints(w.begin() + 2, w.end()));
  if (!group.ok() || !window.ok() || element_count(*site.output_shape()) == 0) return nullptr;
  const auto axes = place_windows(*window, std::span(x).subspan(2));
  if (!axes.ok()) return nullptr;
  auto grid = WindowGrid::make(*axes);
  if (!grid) return nullptr;
  const Sizes sizes{.samples = x[0],
                    .groups = *group,
                    .channels = w[1],
                    .outputs = w[0] / *group,
                    .depth = w[1] * grid->taps()};
  return std::make_unique<ConvKernel>(site, sizes, std::move(*grid));
}

void add_to(StrictKernelTable& table) { table.add("Conv", prepare); }

}  // namespace driftscope::strict::conv
