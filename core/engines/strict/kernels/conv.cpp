// Conv with one or two spatial axes as products of windows (window_product): k goes over channel, kh, kw
// in the order of W's memory, the taps of a group's planes lie as window_grid says.
//
// The scalar kernel leaves out taps in the padding; here they add w·(+0) = ±0. That changes nothing
// while w is finite and the accumulator is not −0, and an accumulator is −0 only as long as it
// began as a bias of −0. Other weights and biases go to the scalar kernel where there is padding.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/window_grid.hpp"
#include "core/engines/strict/window_product.hpp"
#include "core/eval/evaluate.hpp"

namespace driftscope::strict::conv {

constexpr std::int64_t floats_per_copy = 16384;  // worth a separate task
constexpr std::int64_t products_per_chunk = 131072;
constexpr std::int64_t floats_at_once = std::int64_t{1} << 22;  // of copied samples

bool padding_changes_nothing(std::span<const float> w, std::span<const float> bias) {
  return std::all_of(w.begin(), w.end(), [](float x) { return std::isfinite(x); }) &&
         std::none_of(bias.begin(), bias.end(),
                      [](float b) { return std::bit_cast<std::uint32_t>(b) == 0x80000000u; });
}

struct Sizes {
  std::int64_t samples;
  std::int64_t groups;
  std::int64_t channels;  // of X per group
  std::int64_t outputs;   // channels of Y per group
};

WindowLayout layout_of(const Sizes& sizes, const WindowGrid& grid) {
  WindowLayout layout{.groups = sizes.groups,
                      .outputs = sizes.outputs,
                      .group_size = sizes.channels * grid.plane_size(),
                      .pitch = grid.pitch(),
                      .rows = grid.vertical().output,
                      .columns = grid.horizontal().output,
                      .offsets = {}};
  for (std::int64_t c = 0; c < sizes.channels; ++c)
    for (std::int64_t kh = 0; kh < grid.vertical().kernel; ++kh)
      for (std::int64_t kw = 0; kw < grid.horizontal().kernel; ++kw)
        layout.offsets.push_back(
            static_cast<std::ptrdiff_t>(c * grid.plane_size() + grid.tap_offset(kh, kw)));
  return layout;
}

class ConvKernel final : public StrictKernel {
 public:
  ConvKernel(const StrictSite& site, const Sizes& sizes, WindowGrid grid)
      : site_(site),
        sizes_(sizes),
        grid_(std::move(grid)),
        product_(gemm_kernels(site.simd), site.threads, layout_of(sizes, grid_), sizes.samples),
        y_shape_(*site.output_shape()) {
    const Tensor* const w = site.constant(1);
    if (w == nullptr) return;
    product_.pack(w->values<float>().data());
    const Tensor* const bias = site.has_input(2) ? site.constant(2) : nullptr;
    if (site.has_input(2) && bias == nullptr) return;
    harmless_ = !grid_.has_padding() ||
                padding_changes_nothing(w->values<float>(),
                                        bias != nullptr ? bias->values<float>() : std::span<const float>());
  }

  [[nodiscard]] bool reads(std::size_t input) const override {
    return input != 1 || !harmless_.value_or(false);
  }

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    const auto w = inputs[1]->values<float>();
    const auto bias =
        inputs.size() > 2 && inputs[2] != nullptr ? inputs[2]->values<float>() : std::span<const float>();
    if (grid_.has_padding() && !padding_is_known_harmless(w, bias))
      return evaluate_strict(site_.node, inputs, site_.threads);
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, y_shape_, "output Y"));
    if (site_.constant(1) == nullptr) product_.pack(w.data());
    const float* x = inputs[0]->values<float>().data();
    float* out = y.mutable_values<float>().data();
    if (grid_.is_input()) {
      ScratchPool scratch(site_.threads.size(), product_.scratch_size());
      multiply(x, sizes_.samples, bias, out, scratch);
    } else if (sizes_.groups > 1) {
      by_groups(x, bias, out);
    } else {
      by_copies(x, bias, out);
    }
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    return outputs;
  }

 private:
  bool padding_is_known_harmless(std::span<const float> w, std::span<const float> bias) {
    return harmless_ ? *harmless_ : padding_changes_nothing(w, bias);
  }

  auto stores_to(float* y) const {
    return [this, y](const WindowRange& to, const float* sums) {
      std::copy_n(sums, to.columns,
                  y + to.plane * grid_.output_size() + to.row * grid_.horizontal().output + to.column);
    };
  }

  // Group after group, each copied and multiplied by one thread while it is in its cache.
  void by_groups(const float* x, std::span<const float> bias, float* y) const {
    const std::int64_t size = sizes_.channels * grid_.plane_size();
    const std::int64_t taps_size = size + gemm_kernels(site_.simd).columns;  // read beyond the last
    ScratchPool scratch(site_.threads.size(), taps_size + product_.scratch_size());
    const std::int64_t cost = sizes_.outputs * product_.layout().windows() * product_.layout().depth();
    site_.threads.parallel_for(
        sizes_.samples * sizes_.groups, std::max<std::int64_t>(1, products_per_chunk / (cost + 1)),
        [&](std::int64_t begin, std::int64_t end) {
          const ScratchPool::Lease lease(scratch);
          std::fill(lease.data() + size, lease.data() + taps_size, 0.0f);
          for (std::int64_t group = begin; group < end; ++group) {
            for (std::int64_t c = 0; c < sizes_.channels; ++c)
              grid_.copy_plane(x + (group * sizes_.channels + c) * grid_.input_size(),
                               lease.data() + c * grid_.plane_size(), 0.0f);
            product_.run_group(lease.data(), group, bias, lease.data() + taps_size, stores_to(y));
          }
        });
  }

  // All planes of a sample, then their products; as many samples at a time as are worth their memory.
  void by_copies(const float* x, std::span<const float> bias, float* y) const {
    const std::int64_t planes = sizes_.channels;
    const std::int64_t sample_size = planes * grid_.plane_size();
    ScratchPool scratch(site_.threads.size(), product_.scratch_size());
    const std::int64_t at_once =
        std::clamp<std::int64_t>(floats_at_once / std::max<std::int64_t>(1, sample_size), 1, sizes_.samples);
    const std::int64_t lanes = gemm_kernels(site_.simd).columns;  // read beyond the last plane
    const AlignedFloats taps(at_once * sample_size + lanes);
    std::fill_n(taps.data() + at_once * sample_size, lanes, 0.0f);
    for (std::int64_t first = 0; first < sizes_.samples; first += at_once) {
      const std::int64_t count = std::min(at_once, sizes_.samples - first);
      copy_planes(x + first * planes * grid_.input_size(), count * planes, taps.data());
      multiply(taps.data(), count, bias, y + first * sizes_.outputs * grid_.output_size(), scratch);
    }
  }

  void copy_planes(const float* x, std::int64_t count, float* taps) const {
    const std::int64_t size = grid_.plane_size();
    site_.threads.parallel_for(count, std::max<std::int64_t>(1, floats_per_copy / size),
                               [&](std::int64_t begin, std::int64_t end) {
                                 for (std::int64_t i = begin; i < end; ++i)
                                   grid_.copy_plane(x + i * grid_.input_size(), taps + i * size, 0.0f);
                               });
  }

  void multiply(const float* taps, std::int64_t samples, std::span<const float> bias, float* y,
                ScratchPool& scratch) const {
    if (product_.is_gapless())
      product_.run_into(y, taps, samples, bias, scratch);
    else
      product_.run(taps, samples, bias, scratch, stores_to(y));
  }

  StrictSite site_;
  Sizes sizes_;
  WindowGrid grid_;
  WindowProduct<float> product_;
  Shape y_shape_;
  std::optional<bool> harmless_;  // of constant weights and biases
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
  auto grid = WindowGrid::make(*axes, window_kernels(site.simd));
  if (!grid) return nullptr;
  const Sizes sizes{.samples = x[0], .groups = *group, .channels = w[1], .outputs = w[0] / *group};
  return std::make_unique<ConvKernel>(site, sizes, std::move(*grid));
}

void add_to(StrictKernelTable& table) { table.add("Conv", prepare); }

}  // namespace driftscope::strict::conv
