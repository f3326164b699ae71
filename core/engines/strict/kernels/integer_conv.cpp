// ConvInteger and QLinearConv with one or two spatial axes as products of windows (window_product) of pairs:
// two channels less their zero points are one element, so that k goes over channel pairs and taps.
// Padding counts as the zero point: 0. For integers the order of summation does not matter.
#include <algorithm>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/simd/quantize.hpp"
#include "core/engines/strict/window_grid.hpp"
#include "core/engines/strict/window_product.hpp"
#include "core/ops/shared/convolution.hpp"
#include "core/ops/shared/quantization.hpp"

namespace driftscope::strict::integer_conv {

constexpr std::int64_t elements_per_copy = 16384;  // worth a separate task
constexpr std::size_t none = 99;

// The indices of the inputs; QLinearConv has all of them.
struct Inputs {
  std::size_t x, x_zero, w, w_zero;
  std::size_t x_scale = none, w_scale = none, y_scale = none, y_zero = none, bias = none;
};
constexpr Inputs conv_integer{.x = 0, .x_zero = 2, .w = 1, .w_zero = 3};
constexpr Inputs qlinear_conv{.x = 0,
                              .x_zero = 2,
                              .w = 3,
                              .w_zero = 5,
                              .x_scale = 1,
                              .w_scale = 4,
                              .y_scale = 6,
                              .y_zero = 7,
                              .bias = 8};

struct Sizes {
  std::int64_t samples;
  std::int64_t groups;
  std::int64_t channels;  // of x per group
  std::int64_t outputs;   // channels of y per group
  [[nodiscard]] std::int64_t pairs() const { return (channels + 1) / 2; }
};

WindowLayout layout_of(const Sizes& sizes, const WindowGrid& grid) {
  WindowLayout layout{.groups = sizes.groups,
                      .outputs = sizes.outputs,
                      .group_size = sizes.pairs() * grid.plane_size(),
                      .pitch = grid.pitch(),
                      .rows = grid.vertical().output,
                      .columns = grid.horizontal().output,
                      .offsets = {}};
  for (std::int64_t pair = 0; pair < sizes.pairs(); ++pair)
    for (std::int64_t kh = 0; kh < grid.vertical().kernel; ++kh)
      for (std::int64_t kw = 0; kw < grid.horizontal().kernel; ++kw)
        layout.offsets.push_back(
            static_cast<std::ptrdiff_t>(pair * grid.plane_size() + grid.tap_offset(kh, kw)));
  return layout;
}

class IntegerConvKernel final : public StrictKernel {
 public:
  IntegerConvKernel(const StrictSite& site, const Inputs& roles, const Sizes& sizes, WindowGrid grid)
      : site_(site),
        roles_(roles),
        sizes_(sizes),
        grid_(std::move(grid)),
        simd_(quantize_kernels(site.simd)),
        product_(pair_kernels(site.simd), site.threads, layout_of(sizes, grid_), sizes.samples),
        y_shape_(*site.output_shape()) {
    weights_are_constant_ = site.constant(roles.w) != nullptr &&
                            (!site.has_input(roles.w_zero) || site.constant(roles.w_zero) != nullptr);
    if (weights_are_constant_)
      pack(*site.constant(roles.w), site.has_input(roles.w_zero) ? site.constant(roles.w_zero) : nullptr);
  }

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    const auto given = [&](std::size_t i) { return site_.has_input(i) ? inputs[i] : nullptr; };
    if (!weights_are_constant_) pack(*inputs[roles_.w], given(roles_.w_zero));
    const AlignedArray<std::int32_t> taps = lay_out(*inputs[roles_.x], given(roles_.x_zero));
    const Tensor* bias = given(roles_.bias);
    const auto start = bias == nullptr ? std::span<const std::int32_t>() : bias->values<std::int32_t>();
    ScratchPoolOf<std::int32_t> scratch(site_.threads.size(), product_.scratch_size());
    const bool quantized = roles_.y_scale != none;
    const DType dtype = quantized ? inputs[roles_.y_zero]->dtype() : DType::int32;
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(dtype, y_shape_, "output y"));
    const auto place = [&](const WindowRange& range) {
      return range.plane * grid_.output_size() + range.row * grid_.horizontal().output + range.column;
    };
    if (quantized) {
      const std::vector<float> factors = factors_of(inputs);
      const IntegerRange range = *quantized_range(dtype);
      const ByteSteps steps{quantized_values(*inputs[roles_.y_zero])[0], static_cast<std::int32_t>(range.low),
                            static_cast<std::int32_t>(range.high)};
      auto* out = reinterpret_cast<std::uint8_t*>(y.mutable_bytes().data());
      product_.run(taps.data(), sizes_.samples, start, scratch,
                   [&](const WindowRange& to, const std::int32_t* sums) {
                     simd_.requantize(sums, factors[static_cast<std::size_t>(to.plane) % factors.size()],
                                      steps, out + place(to), static_cast<std::size_t>(to.columns));
                   });
    } else {
      std::int32_t* out = y.mutable_values<std::int32_t>().data();
      product_.run(taps.data(), sizes_.samples, start, scratch,
                   [&](const WindowRange& to, const std::int32_t* sums) {
                     std::copy_n(sums, to.columns, out + place(to));
                   });
    }
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    return outputs;
  }

 private:
  // x_scale · w_scale / y_scale of each output channel, in float32 as the scalar kernel has it.
  std::vector<float> factors_of(std::span<const Tensor* const> inputs) const {
    const auto w_scale = inputs[roles_.w_scale]->values<float>();
    const float x_scale = inputs[roles_.x_scale]->values<float>()[0];
    const float y_scale = inputs[roles_.y_scale]->values<float>()[0];
    std::vector<float> factors;
    for (std::int64_t m = 0; m < sizes_.groups * sizes_.outputs; ++m)
      factors.push_back(x_scale * w_scale[w_scale.size() == 1 ? 0 : static_cast<std::size_t>(m)] / y_scale);
    return factors;
  }

  void pack(const Tensor& w, const Tensor* zero_point) {
    const std::vector<std::int32_t> values = quantized_values(w);
    std::vector<std::int32_t> zeros(1, 0);
    if (zero_point != nullptr) zeros = quantized_values(*zero_point);
    const std::int64_t taps = grid_.taps();
    std::vector<std::int32_t> pairs;
    for (std::int64_t m = 0; m < sizes_.groups * sizes_.outputs; ++m) {
      const std::int32_t zero = zeros[zeros.size() == 1 ? 0 : static_cast<std::size_t>(m)];
      const auto at = [&](std::int64_t channel, std::int64_t tap) {
        if (channel >= sizes_.channels) return 0;
        return values[static_cast<std::size_t>((m * sizes_.channels + channel) * taps + tap)] - zero;
      };
      for (std::int64_t channel = 0; channel < sizes_.channels; channel += 2)
        for (std::int64_t tap = 0; tap < taps; ++tap)
          pairs.push_back(pair_of(at(channel, tap), at(channel + 1, tap)));
    }
    product_.pack(pairs.data());
  }

  // The planes of all samples, pairs of channels in each element.
  AlignedArray<std::int32_t> lay_out(const Tensor& x, const Tensor* zero_point) const {
    const std::int32_t zero = zero_point == nullptr ? 0 : quantized_values(*zero_point)[0];
    const std::int64_t size = grid_.plane_size();
    const std::int64_t planes = sizes_.samples * sizes_.groups * sizes_.pairs();
    const std::int64_t beyond = pair_kernels(site_.simd).columns;
    AlignedArray<std::int32_t> taps(planes * size + beyond);
    std::fill_n(taps.data() + planes * size, beyond, 0);
    ScratchPoolOf<std::int32_t> scratch(site_.threads.size(), grid_.input_size());
    const auto run = [&](const auto* from, const auto make_pairs) {
      site_.threads.parallel_for(
          planes, std::max<std::int64_t>(1, elements_per_copy / std::max<std::int64_t>(1, size)),
          [&](std::int64_t begin, std::int64_t end) {
            const ScratchPoolOf<std::int32_t>::Lease lease(scratch);
            for (std::int64_t i = begin; i < end; ++i) {
              const std::int64_t pair = i % sizes_.pairs();
              const std::int64_t channel = i / sizes_.pairs() * sizes_.channels + 2 * pair;
              // The last channel of an odd number is paired with itself, against a weight of 0.
              const bool both = 2 * pair + 1 < sizes_.channels;
              std::int32_t* plane = grid_.is_input() ? taps.data() + i * size : lease.data();
              make_pairs(from + channel * grid_.input_size(), both ? grid_.input_size() : 0, zero, plane,
                         static_cast<std::size_t>(grid_.input_size()));
              if (!grid_.is_input()) grid_.copy_plane(plane, taps.data() + i * size, 0);
            }
          });
    };
    if (x.dtype() == DType::uint8)
      run(x.values<std::uint8_t>().data(), simd_.pairs_uint8);
    else
      run(x.values<std::int8_t>().data(), simd_.pairs_int8);
    return taps;
  }

  StrictSite site_;
  Inputs roles_;
  Sizes sizes_;
  WindowGrid grid_;
  QuantizeKernels simd_;
  WindowProduct<std::int32_t> product_;
  Shape y_shape_;
  bool weights_are_constant_ = false;
};

bool is_byte(const StrictSite& site, std::size_t i) {
  return !site.has_input(i) || site.dtype(i) == DType::uint8 || site.dtype(i) == DType::int8;
}

std::unique_ptr<StrictKernel> prepare(const StrictSite& site, const Inputs& roles) {
  for (const std::size_t i : {roles.x, roles.x_zero, roles.w, roles.w_zero, roles.y_zero})
    if (!is_byte(site, i)) return nullptr;
  for (const std::size_t i : {roles.x_scale, roles.w_scale, roles.y_scale})
    if (i != none && site.dtype(i) != DType::float32) return nullptr;
  const auto x = site.shape(roles.x);
  const auto w = site.shape(roles.w);
  if (!x || !w || !site.output_shape() || element_count(*site.output_shape()) == 0) return nullptr;
  const auto group = read_group(site.node);
  const auto window = read_window(site.node, Ints(w->begin() + 2, w->end()));
  if (!group.ok() || !window.ok()) return nullptr;
  const auto axes = place_windows(*window, std::span(*x).subspan(2));
  if (!axes.ok()) return nullptr;
  auto grid = WindowGrid::make(*axes, window_kernels(site.simd));
  if (!grid) return nullptr;
  const Sizes sizes{.samples = (*x)[0], .groups = *group, .channels = (*w)[1], .outputs = (*w)[0] / *group};
  return std::make_unique<IntegerConvKernel>(site, roles, sizes, std::move(*grid));
}

void add_to(StrictKernelTable& table) {
  table.add("ConvInteger", [](const StrictSite& site) { return prepare(site, conv_integer); });
  table.add("QLinearConv", [](const StrictSite& site) { return prepare(site, qlinear_conv); });
}

}  // namespace driftscope::strict::integer_conv
