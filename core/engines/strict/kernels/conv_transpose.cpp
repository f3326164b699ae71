// ConvTranspose with one or two spatial axes as products of windows (window_product). Outputs whose places
// agree modulo the strides see the same taps, and neighbours among them see neighbouring inputs: each such
// phase is one product over the same padded planes, its k over channels, then its taps in row-major order.
//
// The scalar kernel leaves out taps that hit no element; here they add w·(+0). As in Conv, that changes
// nothing while w is finite and no bias is −0; other weights go to the scalar kernel.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/window_product.hpp"
#include "core/eval/evaluate.hpp"
#include "core/ops/shared/convolution.hpp"
#include "core/ops/shared/transposed_window.hpp"

namespace driftscope::strict::conv_transpose {

constexpr std::int64_t floats_per_copy = 16384;  // worth a separate task
constexpr std::int64_t max_phases = 64;
constexpr std::int64_t max_waste = 8;  // floats copied for each one of the input and output

// The taps of one axis for outputs ≡ `first` (modulo the stride): output first + t·stride reads input
// t + shift through tap k.
struct Phase {
  struct Tap {
    std::int64_t k;
    std::int64_t shift;
  };
  std::int64_t first = 0;
  std::int64_t count = 0;  // of outputs
  std::vector<Tap> taps;   // k ascending
};

// One axis: its phases, and which inputs they read, those in the padding included.
struct Axis {
  TransposedAxis axis;
  std::vector<Phase> phases;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t extent() const { return end - begin; }
};

Axis make_axis(const TransposedAxis& axis) {
  Axis made{.axis = axis, .phases = {}, .begin = 0, .end = axis.input};
  for (std::int64_t first = 0; first < std::min(axis.stride, axis.output); ++first) {
    Phase phase{.first = first, .count = (axis.output - first - 1) / axis.stride + 1, .taps = {}};
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      const std::int64_t distance = first + axis.pad - k * axis.dilation;
      if (distance % axis.stride != 0) continue;
      const std::int64_t shift = distance / axis.stride;
      phase.taps.push_back({k, shift});
      made.begin = std::min(made.begin, shift);
      made.end = std::max(made.end, phase.count + shift);
    }
    made.phases.push_back(std::move(phase));
  }
  return made;
}

struct Sizes {
  std::int64_t samples;
  std::int64_t groups;
  std::int64_t channels;  // of X per group
  std::int64_t outputs;   // channels of Y per group
};

class ConvTransposeKernel final : public StrictKernel {
 public:
  ConvTransposeKernel(const StrictSite& site, const Sizes& sizes, Axis rows, Axis columns)
      : site_(site),
        sizes_(sizes),
        rows_(std::move(rows)),
        columns_(std::move(columns)),
        y_shape_(*site.output_shape()) {
    for (const Phase& row : rows_.phases)
      for (const Phase& column : columns_.phases)
        products_.push_back({&row, &column,
                             WindowProduct<float>(gemm_kernels(site.simd), site.threads,
                                                  layout_of(row, column), sizes.samples)});
    if (const Tensor* w = site.constant(1)) pack(w->values<float>());
  }

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    const auto w = inputs[1]->values<float>();
    const auto bias =
        inputs.size() > 2 && inputs[2] != nullptr ? inputs[2]->values<float>() : std::span<const float>();
    if (!padding_changes_nothing(w, bias)) return evaluate_strict(site_.node, inputs, site_.threads);
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, y_shape_, "output Y"));
    if (site_.constant(1) == nullptr) pack(w);
    const AlignedFloats planes = copy_planes(inputs[0]->values<float>().data());
    float* out = y.mutable_values<float>().data();
    std::int64_t largest = 0;
    for (const Product& product : products_) largest = std::max(largest, product.windows.scratch_size());
    ScratchPool scratch(site_.threads.size(), largest);
    for (const Product& product : products_)
      product.windows.run(planes.data(), sizes_.samples, bias, scratch,
                          [&](const WindowRange& to, const float* sums) { store(product, to, sums, out); });
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    return outputs;
  }

 private:
  struct Product {
    const Phase* row;
    const Phase* column;
    WindowProduct<float> windows;
  };

  [[nodiscard]] std::int64_t plane_size() const { return rows_.extent() * columns_.extent(); }

  WindowLayout layout_of(const Phase& row, const Phase& column) const {
    WindowLayout layout{.groups = sizes_.groups,
                        .outputs = sizes_.outputs,
                        .group_size = sizes_.channels * plane_size(),
                        .pitch = columns_.extent(),
                        .rows = row.count,
                        .columns = column.count,
                        .offsets = {}};
    for (std::int64_t c = 0; c < sizes_.channels; ++c)
      for (const Phase::Tap& kh : row.taps)
        for (const Phase::Tap& kw : column.taps)
          layout.offsets.push_back(static_cast<std::ptrdiff_t>(
              c * plane_size() + (kh.shift - rows_.begin) * columns_.extent() + kw.shift - columns_.begin));
    return layout;
  }

  bool padding_changes_nothing(std::span<const float> w, std::span<const float> bias) {
    const bool constant = site_.constant(1) != nullptr && (bias.empty() || site_.constant(2) != nullptr);
    if (constant && harmless_) return *harmless_;
    harmless_ = std::all_of(w.begin(), w.end(), [](float x) { return std::isfinite(x); }) &&
                std::none_of(bias.begin(), bias.end(),
                             [](float b) { return std::bit_cast<std::uint32_t>(b) == 0x80000000u; });
    return *harmless_;
  }

  // Of W[channels, outputs, kh, kw] the taps of each phase.
  void pack(std::span<const float> w) {
    const std::int64_t taps = rows_.axis.kernel * columns_.axis.kernel;
    std::vector<float> rows;
    for (Product& product : products_) {
      rows.clear();
      for (std::int64_t m = 0; m < sizes_.groups * sizes_.outputs; ++m)
        for (std::int64_t c = 0; c < sizes_.channels; ++c) {
          const std::int64_t channel = m / sizes_.outputs * sizes_.channels + c;
          const std::int64_t at = (channel * sizes_.outputs + m % sizes_.outputs) * taps;
          for (const Phase::Tap& kh : product.row->taps)
            for (const Phase::Tap& kw : product.column->taps)
              rows.push_back(w[static_cast<std::size_t>(at + kh.k * columns_.axis.kernel + kw.k)]);
        }
      product.windows.pack(rows.data());
    }
  }

  // X with zeros around it, as far as any tap reaches.
  AlignedFloats copy_planes(const float* x) const {
    const std::int64_t count = sizes_.samples * sizes_.groups * sizes_.channels;
    const std::int64_t beyond = gemm_kernels(site_.simd).columns;
    AlignedFloats planes(count * plane_size() + beyond);
    std::fill_n(planes.data() + count * plane_size(), beyond, 0.0f);
    const std::int64_t width = columns_.axis.input;
    site_.threads.parallel_for(count, std::max<std::int64_t>(1, floats_per_copy / plane_size()),
                               [&](std::int64_t begin, std::int64_t end) {
                                 for (std::int64_t i = begin; i < end; ++i) {
                                   float* plane = planes.data() + i * plane_size();
                                   std::fill_n(plane, plane_size(), 0.0f);
                                   for (std::int64_t row = 0; row < rows_.axis.input; ++row)
                                     std::copy_n(
                                         x + (i * rows_.axis.input + row) * width, width,
                                         plane + (row - rows_.begin) * columns_.extent() - columns_.begin);
                                 }
                               });
    return planes;
  }

  void store(const Product& product, const WindowRange& from, const float* sums, float* y) const {
    const std::int64_t row = product.row->first + from.row * rows_.axis.stride;
    const std::int64_t step = columns_.axis.stride;
    float* out = y + (from.plane * rows_.axis.output + row) * columns_.axis.output + product.column->first +
                 from.column * step;
    if (step == 1) {
      std::copy_n(sums, from.columns, out);
    } else {
      for (std::int64_t i = 0; i < from.columns; ++i) out[i * step] = sums[i];
    }
  }

  StrictSite site_;
  Sizes sizes_;
  Axis rows_;
  Axis columns_;
  std::vector<Product> products_;  // refer to the axes
  Shape y_shape_;
  std::optional<bool> harmless_;
};

std::unique_ptr<StrictKernel> prepare(const StrictSite& site) {
  if (!site.all_float32() || element_count(*site.output_shape()) == 0) return nullptr;
  const Shape x = *site.shape(0);
  const Shape w = *site.shape(1);
  if (x.size() > 4 || element_count(x) == 0) return nullptr;
  const auto group = read_group(site.node);
  const auto axes = place_transposed(site.node, Ints(w.begin() + 2, w.end()), std::span(x).subspan(2));
  if (!group.ok() || !axes.ok()) return nullptr;
  // Checked before any allocation: not too many phases, and not too much copying.
  std::int64_t phases = 1;
  for (const TransposedAxis& axis : *axes) phases *= std::min(axis.stride, max_phases + 1);
  if (phases > max_phases) return nullptr;
  const TransposedAxis whole{.input = 1, .output = 1};
  Axis rows = make_axis(axes->size() == 2 ? axes->front() : whole);
  Axis columns = make_axis(axes->back());
  const Shape y = *site.output_shape();
  const std::int64_t used = element_count(std::span(x).subspan(2)) + element_count(std::span(y).subspan(2));
  const std::int64_t limit = max_waste * used + 4096;
  if (rows.extent() > limit || columns.extent() > limit / rows.extent() ||
      columns.extent() > max_waste * columns.phases.front().count)
    return nullptr;
  const Sizes sizes{.samples = x[0], .groups = *group, .channels = x[1] / *group, .outputs = w[1]};
  return std::make_unique<ConvTransposeKernel>(site, sizes, std::move(rows), std::move(columns));
}

void add_to(StrictKernelTable& table) { table.add("ConvTranspose", prepare); }

}  // namespace driftscope::strict::conv_transpose
