// Resize, Upsample: ResizeNearestNeighbor and ResizeBilinear where these take the same elements with the same
// weights; else nearest neighbours are gathered axis by axis, and other modes are products with a matrix of
// weights for each axis.
#include <fmt/format.h>

#include <cmath>

#include "core/convert/tf/selection.hpp"
#include "core/ops/shared/resize_plan.hpp"

namespace driftscope::tf::operators::resize {
namespace {

using Mode = Resampling::Mode;

// How TensorFlow's operators place an output coordinate, in float32 as its kernels.
struct Rule {
  bool align_corners = false;
  bool half_pixel = false;
};
constexpr std::array<Rule, 3> rules = {{{false, false}, {true, false}, {false, true}}};

float source_of(const Rule& rule, Mode mode, const ResampledAxis& axis, std::int64_t o) {
  const bool aligned = rule.align_corners && axis.output > 1;
  const float scale = static_cast<float>(aligned ? axis.input - 1 : axis.input) /
                      static_cast<float>(aligned ? axis.output - 1 : axis.output);
  const auto at = static_cast<float>(o);
  if (!rule.half_pixel) return at * scale;
  return mode == Mode::nearest ? (at + 0.5f) * scale : (at + 0.5f) * scale - 0.5f;
}

bool same_element(const Rule& rule, const ResampledAxis& axis, std::int64_t o, const ResampledPoint& point) {
  const float source = source_of(rule, Mode::nearest, axis, o);
  const auto index = static_cast<std::int64_t>(rule.align_corners ? std::round(source) : std::floor(source));
  return point.taps.at.size() == 1 && point.taps.at[0] == std::min(index, axis.input - 1);
}

bool same_weights(const Rule& rule, const ResampledAxis& axis, std::int64_t o, const ResampledPoint& point) {
  const float source = source_of(rule, Mode::linear, axis, o);
  const auto low = static_cast<std::int64_t>(std::max(0.0f, std::floor(source)));
  const auto high = std::min(axis.input - 1, static_cast<std::int64_t>(std::ceil(source)));
  // As TensorFlow.js: the fraction is taken from the lower neighbour that is used.
  const double share = static_cast<double>(source) - static_cast<double>(low);
  const double fraction = std::max(0.0, share);
  std::vector<double> theirs(static_cast<std::size_t>(axis.input), 0.0), ours = theirs;
  theirs[static_cast<std::size_t>(low)] += 1.0 - fraction;
  theirs[static_cast<std::size_t>(std::max<std::int64_t>(high, 0))] += fraction;
  for (std::size_t i = 0; i < point.taps.at.size(); ++i)
    ours[static_cast<std::size_t>(point.taps.at[i])] += point.taps.weight[i];
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (std::fabs(ours[i] - theirs[i]) > 1e-5) return false;
  return true;
}

class Resize {
 public:
  Resize(Lowering& lowering, const OnnxNode& node) : lowering_(lowering), node_(node) {}

  Status run() {
    const ValueId x = node_.inputs[0];
    const Shape shape = lowering_.shape(x);
    DRIFTSCOPE_TRY(attributes_, read_resize(node_));
    DRIFTSCOPE_CHECK(plan(shape));
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (axes_[axis].input == 0) return unsupported("an input without elements has no equivalent");
      points_.push_back(resample_axis(attributes_.how, axes_[axis]));
      for (const ResampledPoint& point : points_.back())
        if (point.outside) return unsupported("elements outside of the input have no equivalent");
    }
    const bool images = shape.size() == 4 && axes_[0].identity() && axes_[1].identity();
    if (images && lowering_.dtype(x) == DType::float32)
      for (const Rule& rule : rules)
        if (fits(rule)) return by_operator(rule);
    if (attributes_.how.mode == Mode::nearest) return by_gathering();
    if (lowering_.dtype(x) != DType::float32)
      return unsupported(
          fmt::format("weighting elements of {} has no equivalent", dtype_name(lowering_.dtype(x))));
    return by_products();
  }

 private:
  Status plan(const Shape& shape) {
    const ResizeInputs which = resize_inputs(node_);
    ResizeValues values;
    const auto known = [&](const std::optional<std::size_t>& input, const Tensor*& to) -> Status {
      if (!input || !Lowering::has_input(node_, *input)) return {};
      DRIFTSCOPE_TRY(to, lowering_.known(node_, *input, "roi, scales or sizes"));
      return {};
    };
    DRIFTSCOPE_CHECK(known(which.roi, values.roi));
    DRIFTSCOPE_CHECK(known(which.scales, values.scales));
    DRIFTSCOPE_CHECK(known(which.sizes, values.sizes));
    DRIFTSCOPE_TRY(axes_, plan_resize(attributes_, shape, values));
    return {};
  }

  [[nodiscard]] bool fits(const Rule& rule) const {
    const Mode mode = attributes_.how.mode;
    if (mode == Mode::cubic || (mode == Mode::linear && attributes_.how.antialias)) return false;
    if (!lowering_.has(mode == Mode::nearest ? "ResizeNearestNeighbor" : "ResizeBilinear")) return false;
    for (const std::size_t axis : {std::size_t{2}, std::size_t{3}})
      for (std::int64_t o = 0; o < axes_[axis].output; ++o) {
        const ResampledPoint& point = points_[axis][static_cast<std::size_t>(o)];
        if (mode == Mode::nearest ? !same_element(rule, axes_[axis], o, point)
                                  : !same_weights(rule, axes_[axis], o, point))
          return false;
      }
    return true;
  }

  Status by_operator(const Rule& rule) {
    const Order order = channels_last(4);
    DRIFTSCOPE_TRY(const std::string x, lowering_.read(node_.inputs[0], order));
    DRIFTSCOPE_TRY(const std::string size,
                   lowering_.ints(std::vector{axes_[2].output, axes_[3].output}, "size"));
    return lowering_.give(
        node_.outputs[0], attributes_.how.mode == Mode::nearest ? "ResizeNearestNeighbor" : "ResizeBilinear",
        {x, size}, {{"align_corners", rule.align_corners}, {"half_pixel_centers", rule.half_pixel}}, order);
  }

  Status by_gathering() {
    std::vector<AxisSelection> selections;
    for (const auto& points : points_) {
      selections.emplace_back();
      for (const ResampledPoint& point : points) selections.back().push_back(point.taps.at[0]);
    }
    return give_axis_selection(lowering_, node_, selections);
  }

  // Along each axis that changes: [.., input, ..] → the axis last → · [input, output].
  Status by_products() {
    DRIFTSCOPE_TRY(std::string tensor, lowering_.read(node_.inputs[0]));
    Shape shape = lowering_.shape(node_.inputs[0]);
    const std::size_t rank = shape.size();
    for (std::size_t axis = rank; axis-- > 0;) {
      if (axes_[axis].identity()) continue;
      DRIFTSCOPE_TRY(Tensor weights, Tensor::make(DType::float32, {axes_[axis].input, axes_[axis].output}));
      const auto values = weights.mutable_values<float>();
      for (std::size_t o = 0; o < points_[axis].size(); ++o)
        for (std::size_t i = 0; i < points_[axis][o].taps.at.size(); ++i)
          values[static_cast<std::size_t>(points_[axis][o].taps.at[i] * axes_[axis].output) + o] +=
              static_cast<float>(points_[axis][o].taps.weight[i]);
      DRIFTSCOPE_TRY(const std::string matrix, lowering_.constant(weights, "weights"));
      Order last;
      for (std::size_t i = 0; i < rank; ++i)
        if (i != axis) last.push_back(i);
      last.push_back(axis);
      DRIFTSCOPE_TRY(tensor, lowering_.transpose("axis_last", tensor, last));
      Shape turned = lowering_.info(tensor).shape;
      DRIFTSCOPE_TRY(tensor,
                     lowering_.reshape("rows", tensor, {element_count(shape) / shape[axis], shape[axis]}));
      shape[axis] = axes_[axis].output;
      tensor = lowering_.make("resized", "MatMul", {tensor, matrix},
                              {{"transpose_a", false}, {"transpose_b", false}},
                              {DType::float32, {element_count(shape) / shape[axis], shape[axis]}, {}});
      turned.back() = shape[axis];
      DRIFTSCOPE_TRY(tensor, lowering_.reshape("axes", tensor, turned));
      DRIFTSCOPE_TRY(tensor, lowering_.transpose("axis_back", tensor, inverse(last)));
    }
    return lowering_.give_same(node_.outputs[0], tensor);
  }

  Lowering& lowering_;
  const OnnxNode& node_;
  ResizeAttributes attributes_;
  std::vector<ResampledAxis> axes_;
  std::vector<std::vector<ResampledPoint>> points_;
};

Status lower(Lowering& lowering, const OnnxNode& node) { return Resize(lowering, node).run(); }

}  // namespace

void add_to(OperatorTable& table) {
  table.add("Resize", lower, Prefers::channels_last);
  table.add("Upsample", lower, Prefers::channels_last);
}

}  // namespace driftscope::tf::operators::resize
