// MaxPool and AveragePool with one or two spatial axes on simd/window; MaxPool over a whole plane on
// simd/elementwise. Taps in the padding, which
// the plain kernels leave out, are −∞ for the maximum and +0 for the sum (which starts at +0 and so
// is never −0): neither changes a bit.
#include <algorithm>
#include <limits>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/scratch.hpp"
#include "core/engines/strict/simd/elementwise.hpp"
#include "core/engines/strict/simd/window.hpp"
#include "core/engines/strict/window_grid.hpp"
#include "core/ops/shared/pool.hpp"

namespace driftscope::strict::pool {

constexpr std::int64_t taps_per_chunk = 65536;   // worth handing to a thread
constexpr std::int64_t floats_per_block = 8192;  // results that stay in the cache

// The divisor of a window's sum: see core/ops/average_pool.cpp. 1 for a window without data.
std::int64_t taps_counted(const WindowAxis& axis, std::int64_t o, bool include_pad) {
  return include_pad ? axis.first_tap_from(o, axis.input + axis.pad_end)
                     : axis.tap_end(o) - axis.tap_begin(o);
}

std::vector<float> divisors(const WindowGrid& grid, bool include_pad) {
  std::vector<float> result;
  for (std::int64_t row = 0; row < grid.vertical().output; ++row)
    for (std::int64_t column = 0; column < grid.horizontal().output; ++column) {
      const std::int64_t count = taps_counted(grid.vertical(), row, include_pad) *
                                 taps_counted(grid.horizontal(), column, include_pad);
      result.push_back(static_cast<float>(std::max<std::int64_t>(1, count)));
    }
  return result;
}

class PoolKernel final : public StrictKernel {
 public:
  /// `divisors` is empty for MaxPool.
  PoolKernel(const StrictSite& site, WindowGrid grid, std::vector<float> divisors)
      : site_(site),
        grid_(std::move(grid)),
        windows_(window_kernels(site.simd)),
        elementwise_(elementwise_kernels(site.simd)),
        divisors_(std::move(divisors)),
        y_shape_(*site.output_shape()),
        block_rows_(std::clamp<std::int64_t>(floats_per_block / grid_.pitch(), 1, grid_.vertical().output)) {
    for (std::int64_t kh = 0; kh < grid_.vertical().kernel; ++kh)
      for (std::int64_t kw = 0; kw < grid_.horizontal().kernel; ++kw)
        offsets_.push_back(static_cast<std::ptrdiff_t>(grid_.tap_offset(kh, kw)));
  }

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, y_shape_, "output Y"));
    const float* x = inputs[0]->values<float>().data();
    float* out = y.mutable_values<float>().data();
    const std::int64_t planes = y.elements() / grid_.output_size();
    const std::int64_t cost = grid_.output_size() * grid_.taps();
    ScratchPool scratch(site_.threads.size(), copy_size() + block_size());
    site_.threads.parallel_for(
        planes, std::max<std::int64_t>(1, taps_per_chunk / cost), [&](std::int64_t begin, std::int64_t end) {
          const ScratchPool::Lease lease(scratch);
          std::fill(lease.data() + grid_.plane_size(), lease.data() + copy_size(), 0.0f);
          for (std::int64_t i = begin; i < end; ++i)
            plane(x + i * grid_.input_size(), out + i * grid_.output_size(), lease.data());
        });
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    return outputs;
  }

 private:
  // A run over the last rows may read one vector beyond the plane.
  std::int64_t copy_size() const { return grid_.plane_size() + windows_.lanes; }
  std::int64_t block_size() const { return block_rows_ * grid_.pitch() + windows_.lanes; }

  void plane(const float* x, float* y, float* scratch) const {
    const bool average = !divisors_.empty();
    float* results = scratch + copy_size();
    grid_.copy_plane(x, scratch, average ? 0.0f : -std::numeric_limits<float>::infinity());
    const std::int64_t width = grid_.horizontal().output;
    for (std::int64_t row = 0; row < grid_.vertical().output; row += block_rows_) {
      const std::int64_t rows = std::min(block_rows_, grid_.vertical().output - row);
      const WindowRun run{.taps = scratch + row * grid_.pitch(),
                          .offsets = offsets_.data(),
                          .tap_count = offsets_.size(),
                          .y = results,
                          .count = (rows - 1) * grid_.pitch() + width};
      average ? windows_.sum(run) : windows_.max(run);
      for (std::int64_t i = 0; i < rows; ++i) {
        const float* from = results + i * grid_.pitch();
        const std::int64_t to = (row + i) * width;
        if (average)
          elementwise_.div(from, divisors_.data() + to, y + to, static_cast<std::size_t>(width));
        else
          std::copy_n(from, width, y + to);
      }
    }
  }

  StrictSite site_;
  WindowGrid grid_;
  WindowKernels windows_;
  ElementwiseKernels elementwise_;
  std::vector<float> divisors_;
  Shape y_shape_;
  std::int64_t block_rows_;
  std::vector<std::ptrdiff_t> offsets_;
};

// One window per plane that covers the plane.
class WholePlaneMaxKernel final : public StrictKernel {
 public:
  explicit WholePlaneMaxKernel(const StrictSite& site)
      : site_(site), elementwise_(elementwise_kernels(site.simd)), y_shape_(*site.output_shape()) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, y_shape_, "output Y"));
    const auto x = inputs[0]->values<float>();
    const auto out = y.mutable_values<float>();
    const std::size_t size = x.size() / out.size();
    site_.threads.parallel_for(
        y.elements(), std::max<std::int64_t>(1, taps_per_chunk / static_cast<std::int64_t>(size)),
        [&](std::int64_t begin, std::int64_t end) {
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
            out[i] = largest(x.subspan(i * size, size));
        });
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    return outputs;
  }

 private:
  // Where the order matters: of zeros with both signs the scalar kernel keeps the last.
  [[nodiscard]] float largest(std::span<const float> plane) const {
    const float found = elementwise_.largest(plane.data(), plane.size());
    if (found != 0.0f) return found;
    return *std::find(plane.rbegin(), plane.rend(), 0.0f);
  }

  StrictSite site_;
  ElementwiseKernels elementwise_;
  Shape y_shape_;
};

bool is_whole_plane(std::span<const WindowAxis> axes) {
  return std::all_of(axes.begin(), axes.end(), [](const WindowAxis& axis) {
    return axis.output == 1 && axis.kernel == axis.input && axis.dilation == 1 && axis.at(0, 0) == 0;
  });
}

std::unique_ptr<StrictKernel> prepare(const StrictSite& site, bool average) {
  if (!site.all_float32() || element_count(*site.output_shape()) == 0) return nullptr;
  const auto plan = plan_pool(site.node, *site.shape(0));
  const auto include_pad = flag_attribute(site.node, "count_include_pad", false);
  if (!plan.ok() || !include_pad.ok()) return nullptr;
  if (!average && is_whole_plane(plan->axes)) return std::make_unique<WholePlaneMaxKernel>(site);
  auto grid = WindowGrid::make(plan->axes, window_kernels(site.simd));
  if (!grid) return nullptr;
  std::vector<float> counts;
  if (average) counts = divisors(*grid, *include_pad);
  return std::make_unique<PoolKernel>(site, std::move(*grid), std::move(counts));
}

void add_to(StrictKernelTable& table) {
  table.add("MaxPool", [](const StrictSite& site) { return prepare(site, false); });
  table.add("AveragePool", [](const StrictSite& site) { return prepare(site, true); });
}

}  // namespace driftscope::strict::pool
