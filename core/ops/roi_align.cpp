// RoiAlign, opset 10 to 21: regions of interest, pooled over bilinear samples of a regular grid.
// From opset 16 coordinates are shifted by half a pixel by default; before, and with
// output_half_pixel, they are not, and a region is at least one element wide.
// Mode max takes the largest weighted neighbour of the samples, as the reference implementation
// does.
//
// Strict definition (float): coordinates and weights in double, each product of weights rounded to
// float32; one accumulator over samples and their neighbours, then a division by their number.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/sampling.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::roi_align {

struct RoiAttributes {
  bool max = false;
  bool half_pixel = true;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t sampling_ratio = 0;
  double spatial_scale = 1.0;
};

Result<RoiAttributes> read(const Node& node) {
  RoiAttributes result;
  DRIFTSCOPE_TRY(const std::string mode, string_attribute(node, "mode", "avg"));
  if (mode != "avg" && mode != "max")
    return bad_input(fmt::format("attribute mode: expected avg or max, got '{}'", mode));
  result.max = mode == "max";
  const std::string_view shifted = node.opset >= 16 ? "half_pixel" : "output_half_pixel";
  DRIFTSCOPE_TRY(const std::string coordinates,
                 string_attribute(node, "coordinate_transformation_mode", shifted));
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return bad_input(
        fmt::format("attribute coordinate_transformation_mode: expected half_pixel or "
                    "output_half_pixel, got '{}'",
                    coordinates));
  result.half_pixel = coordinates == "half_pixel";
  DRIFTSCOPE_TRY(result.height, int_attribute(node, "output_height", 1));
  DRIFTSCOPE_TRY(result.width, int_attribute(node, "output_width", 1));
  DRIFTSCOPE_TRY(result.sampling_ratio, int_attribute(node, "sampling_ratio", 0));
  constexpr std::int64_t limit = 1 << 20;
  if (result.height < 1 || result.width < 1 || result.height > limit || result.width > limit ||
      result.sampling_ratio < 0 || result.sampling_ratio > 4096)
    return bad_input(
        fmt::format("attributes output_height, output_width, sampling_ratio: expected sizes up to "
                    "{} and a ratio "
                    "from 0 to 4096, got {}, {}, {}",
                    limit, result.height, result.width, result.sampling_ratio));
  DRIFTSCOPE_TRY(const float scale, float_attribute(node, "spatial_scale", 1.0f));
  result.spatial_scale = static_cast<double>(scale);
  return result;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_kind(context, 1, "rois", Kinds::floating));
  const DType indices = context.input(2).dtype;
  if (indices != DType::undefined && indices != DType::int64)
    return bad_input(fmt::format("input 2 (batch_indices): expected int64, got {}", dtype_name(indices)));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 4, 4));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, "rois", 2, 2));
  DRIFTSCOPE_CHECK(expect_rank(context, 2, "batch_indices", 1, 1));
  DRIFTSCOPE_TRY(const RoiAttributes attributes, read(context.node()));
  SymbolicShape y = {Dimension{}, Dimension{}, known_dimension(attributes.height),
                     known_dimension(attributes.width)};
  if (context.input(0).shape) y[1] = (*context.input(0).shape)[1];
  if (const auto& rois = context.input(1).shape) {
    if ((*rois)[1].known() && (*rois)[1].size != 4)
      return bad_input(
          fmt::format("input 1 (rois): expected 4 numbers per region, got shape {}", shape_text(*rois)));
    y[0] = (*rois)[0];
  }
  if (const auto& list = context.input(2).shape) {
    const auto both = unify(y[0], list->front());
    if (!both)
      return bad_input(
          fmt::format("input 2 (batch_indices): expected {} elements as there are "
                      "regions, got shape {}",
                      y[0].size, shape_text(*list)));
    y[0] = *both;
  }
  return std::vector{TensorType{context.input(0).dtype, std::move(y)}};
}

/// One axis of one region.
struct RoiAxis {
  double begin = 0.0;
  double bin = 0.0;
  std::int64_t samples = 1;
  double error = 0.0;        ///< of a sample's coordinate in float32
  bool samples_sure = true;  ///< rounding cannot make it another number

  RoiAxis(const RoiAttributes& how, double first, double last, double given_error, std::int64_t outputs) {
    const double offset = how.half_pixel ? 0.5 : 0.0;
    begin = first * how.spatial_scale - offset;
    double size = last * how.spatial_scale - offset - begin;
    if (!how.half_pixel) size = std::fmax(size, 1.0);
    bin = size / static_cast<double>(outputs);
    const double reach = std::fabs(begin) + std::fabs(size) + 1.0;
    error = 8.0 * unit_roundoff_f32 * reach + 2.0 * std::fabs(how.spatial_scale) * given_error;
    if (how.sampling_ratio > 0) {
      samples = how.sampling_ratio;
      return;
    }
    const double wanted = std::ceil(bin);
    samples = wanted > 0.0 ? static_cast<std::int64_t>(std::fmin(wanted, 4096.0)) : 0;
    const bool exact = static_cast<double>(static_cast<float>(bin)) == bin && given_error == 0.0 &&
                       static_cast<double>(static_cast<float>(begin)) == begin;
    samples_sure = exact || std::fabs(bin - std::nearbyint(bin)) > 2.0 * error;
  }
  [[nodiscard]] double at(std::int64_t output, std::int64_t sample) const {
    return begin + static_cast<double>(output) * bin +
           (static_cast<double>(sample) + 0.5) * bin / static_cast<double>(samples);
  }
};

// The four neighbours of a point and their weights; none beyond one element outside.
template <class Body>
void for_each_neighbour(const SamplePoint& point, std::int64_t height, std::int64_t width, const Body& body) {
  double y = point.at[0];
  double x = point.at[1];
  if (!(y >= -1.0 && y <= static_cast<double>(height) && x >= -1.0 && x <= static_cast<double>(width)))
    return;
  const auto place = [](double& at, std::int64_t size, std::int64_t& low, std::int64_t& high) {
    at = std::fmax(at, 0.0);
    low = static_cast<std::int64_t>(at);
    high = low + 1;
    if (low >= size - 1) {
      low = high = size - 1;
      at = static_cast<double>(low);
    }
  };
  std::int64_t y_low = 0, y_high = 0, x_low = 0, x_high = 0;
  place(y, height, y_low, y_high);
  place(x, width, x_low, x_high);
  const double ly = y - static_cast<double>(y_low);
  const double lx = x - static_cast<double>(x_low);
  body((1.0 - ly) * (1.0 - lx), y_low * width + x_low);
  body((1.0 - ly) * lx, y_low * width + x_high);
  body(ly * (1.0 - lx), y_high * width + x_low);
  body(ly * lx, y_high * width + x_high);
}

template <class T, class S>
T sample(const RoiAttributes& how, const SamplePoint& point, std::int64_t height, std::int64_t width,
         const S* x) {
  if (how.max) {
    T largest = math::exact<T>(0.0);
    bool first = true;
    for_each_neighbour(point, height, width, [&](double weight, std::int64_t offset) {
      const T product = math::exact<T>(weight) * element_as<T>(x[offset]);
      largest = first ? product : math::max(largest, product);
      first = false;
    });
    return largest;
  }
  WeightedSum<T> sum(2);
  for_each_neighbour(point, height, width,
                     [&](double weight, std::int64_t offset) { sum.add(weight, element_as<T>(x[offset])); });
  return sum.result();
}

struct RoiAlign {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const RoiAttributes how, read(context.node()));
    const Shape& x_shape = context.shape(0);
    const std::int64_t channels = x_shape[1], height = x_shape[2], width = x_shape[3];
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    if (height == 0 || width == 0) return bad_input("input 0 (X): its planes are empty");
    const auto indices = context.tensor(2).template values<std::int64_t>();
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (indices[i] < 0 || indices[i] >= x_shape[0])
        return bad_input(
            fmt::format("input 2 (batch_indices): element {} is {}, expected 0 to {} as X has samples", i,
                        indices[i], x_shape[0] - 1));
    const std::span<const S> rois = context.real(1);
    const std::int64_t bins = how.height * how.width;
    context.parallel_for(context.shape(1)[0] * channels, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t roi = item / channels;
        const auto number = [&](std::size_t i) {
          return static_cast<double>(math::value(rois[static_cast<std::size_t>(roi) * 4 + i]));
        };
        double given_error = 0.0;
        if constexpr (std::is_same_v<S, Bounded>)
          for (std::size_t i = 0; i < 4; ++i)
            given_error = std::fmax(given_error, rois[static_cast<std::size_t>(roi) * 4 + i].worst);
        const RoiAxis rows(how, number(1), number(3), given_error, how.height);
        const RoiAxis columns(how, number(0), number(2), given_error, how.width);
        const S* x = context.real(0).data() +
                     (indices[static_cast<std::size_t>(roi)] * channels + item % channels) * height * width;
        for (std::int64_t bin = 0; bin < bins; ++bin)
          y[static_cast<std::size_t>(item * bins + bin)] =
              pooled<S>(how, rows, columns, bin / how.width, bin % how.width, height, width, x);
      }
    });
    return {};
  }

 private:
  template <class S>
  static S pooled(const RoiAttributes& how, const RoiAxis& rows, const RoiAxis& columns, std::int64_t row,
                  std::int64_t column, std::int64_t height, std::int64_t width, const S* x) {
    Sum<S> sum;
    S largest = math::exact<S>(0.0);
    bool first = true;
    double size = 0.0;
    for (std::int64_t i = 0; i < rows.samples; ++i)
      for (std::int64_t j = 0; j < columns.samples; ++j) {
        const SamplePoint point{2, {rows.at(row, i), columns.at(column, j)}, {rows.error, columns.error}};
        const S value = sample_at<S>(
            point, [&]<class T>(const SamplePoint& p) { return sample<T>(how, p, height, width, x); });
        if (how.max)
          largest = first ? value : math::max(largest, value);
        else
          sum.add(value);
        first = false;
        if constexpr (std::is_same_v<S, Bounded>)
          size = std::fmax(size, std::fabs(value.value) + value.worst);
      }
    const auto count = static_cast<double>(std::max<std::int64_t>(1, rows.samples * columns.samples));
    S result = how.max ? largest : sum.result() / math::exact<S>(count);
    if constexpr (std::is_same_v<S, Bounded>) {
      double extra = 4.0 * current_error_model().unit_roundoff * size;
      // Another number of samples lands elsewhere in the same bin.
      if (!rows.samples_sure || !columns.samples_sure) extra += 2.0 * size;
      result.worst += extra;
      result.likely += extra;
      result.systematic += extra;
    }
    return result;
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<RoiAlign>(
      {.op_type = "RoiAlign", .since = 10, .inputs = {3, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::roi_align
