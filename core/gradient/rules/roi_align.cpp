// RoiAlign by averages is linear in X and separable: of region r it is rows(r) · X · columns(r)ᵀ, with the
// mean weights of each bin's samples. dX is the transposed of it, summed over the regions of each sample: one
// product over all regions and bins.
#include <array>

#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_roi_align {
namespace {

struct Axis {
  std::int64_t first = 0, last = 0;  // places of its ends in a region
  std::int64_t size = 0;             // of X
  std::int64_t bins = 1;
};

struct Sampling {
  std::int64_t samples = 1;  // in a bin
  bool half_pixel = true;
  double scale = 1.0;
};

// [regions, bins, size]: what each element of X counts in a bin.
std::string bin_weights(NodeGradient& at, const std::string& rois, const Axis& axis, const Sampling& how) {
  GradientEmitter& emit = at.emit();
  const DType dtype = at.dtype();
  const auto number = [&](double value) { return emit.scalar(value, dtype); };
  const auto end_at = [&](std::int64_t place) {
    const std::string end = emit.mul(emit.slice(rois, {place}, {place + 1}, {1}), number(how.scale));
    return how.half_pixel ? emit.sub(end, number(0.5)) : end;
  };
  const std::string begin = end_at(axis.first);
  std::string length = emit.sub(end_at(axis.last), begin);
  if (!how.half_pixel) length = emit.node("Max", {length, number(1.0)});
  std::vector<double> places;  // in bins
  for (std::int64_t bin = 0; bin < axis.bins; ++bin)
    for (std::int64_t i = 0; i < how.samples; ++i)
      places.push_back(static_cast<double>(bin) +
                       (static_cast<double>(i) + 0.5) / static_cast<double>(how.samples));
  const std::string bin = emit.div(length, number(static_cast<double>(axis.bins)));
  const std::string point =
      emit.add(begin, emit.mul(bin, emit.numbers(places, {1, std::ssize(places)}, dtype)));
  // More than one element outside a sample is 0; otherwise it is that of the nearest place inside.
  const auto size = static_cast<double>(axis.size);
  const std::string reached =
      emit.mul(emit.cast(emit.node("Not", {emit.node("Less", {point, number(-1.0)})}), dtype),
               emit.cast(emit.node("Not", {emit.node("Greater", {point, number(size)})}), dtype));
  const std::string inside = emit.node("Min", {emit.node("Max", {point, number(0.0)}), number(size - 1.0)});
  std::vector<double> elements;
  for (std::int64_t i = 0; i < axis.size; ++i) elements.push_back(static_cast<double>(i));
  const std::string distance =
      emit.node("Abs", {emit.sub(emit.unsqueeze(inside, {2}), emit.numbers(elements, {axis.size}, dtype))});
  const std::string weight = emit.node("Max", {emit.sub(number(1.0), distance), number(0.0)});
  const std::string all = emit.mul(weight, emit.unsqueeze(reached, {2}));
  return emit.reduce("ReduceMean", emit.reshape(all, {-1, axis.bins, how.samples, axis.size}), {2}, false);
}

Status roi_align(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  const Node& node = at.node();
  if (at.wanted(1)) return at.unsupported_form("with respect to the regions");
  DRIFTSCOPE_TRY(const std::string mode, string_attribute(node, "mode", "avg"));
  if (mode != "avg") return at.unsupported_form("of mode max");
  Sampling how;
  DRIFTSCOPE_TRY(how.samples, int_attribute(node, "sampling_ratio", 0));
  if (how.samples < 1)
    return at.unsupported_form("with sampling_ratio 0, where the number of samples depends on the regions");
  DRIFTSCOPE_TRY(const std::string where,
                 string_attribute(node, "coordinate_transformation_mode",
                                  node.opset >= 16 ? "half_pixel" : "output_half_pixel"));
  how.half_pixel = where == "half_pixel";
  DRIFTSCOPE_TRY(const float scale, float_attribute(node, "spatial_scale", 1.0f));
  how.scale = static_cast<double>(scale);
  std::array<std::int64_t, 4> x{};
  for (std::size_t axis = 0; axis < x.size(); ++axis) {
    DRIFTSCOPE_TRY(x[axis], at.size(at.input(0), axis));
  }
  const auto& [samples, channels, height, width] = x;
  Axis rows{.first = 1, .last = 3, .size = height}, columns{.first = 0, .last = 2, .size = width};
  DRIFTSCOPE_TRY(rows.bins, int_attribute(node, "output_height", 1));
  DRIFTSCOPE_TRY(columns.bins, int_attribute(node, "output_width", 1));
  const std::string rois = at.input(1).dtype == at.dtype() ? at.x(1) : emit.cast(at.x(1), at.dtype());
  // Along the columns: [regions · bins of rows, channels · width].
  const std::string wide = emit.matmul(at.dy(), emit.unsqueeze(bin_weights(at, rois, columns, how), {1}));
  const std::string flat = emit.reshape(emit.transpose(wide, {0, 2, 1, 3}), {-1, channels * width});
  // Along the rows, for each sample those of its own regions: [samples, height, regions · bins].
  const std::string own =
      emit.unsqueeze(emit.transpose(emit.one_hot(at.x(2), samples, at.dtype()), {1, 0}), {2, 3});
  const std::string tall = emit.mul(own, bin_weights(at, rois, rows, how));
  const std::string spread = emit.transpose(emit.reshape(tall, {samples, -1, height}), {0, 2, 1});
  const std::string sums = emit.reshape(emit.matmul(spread, flat), {samples, height, channels, width});
  at.add(0, emit.transpose(sums, {0, 2, 1, 3}));
  return {};
}

}  // namespace
}  // namespace gradient_roi_align

namespace gradient_rules::roi_align {

void add_to(GradientRuleTable& table) { table.add("RoiAlign", gradient_roi_align::roi_align); }

}  // namespace gradient_rules::roi_align

}  // namespace driftscope
