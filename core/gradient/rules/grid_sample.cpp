// GridSample, nearest and linear. X gets dy back at the neighbours of each point, by their weights; the grid
// gets the slopes of the weights times the neighbours. A point on an element has the slope behind it; at the
// ends of border and reflection, and beyond border's, the slope is 0, as in PyTorch.
#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_grid_sample {
namespace {

struct Attributes {
  bool nearest = false;
  bool align_corners = false;
  std::string padding;
};

/// The neighbours of all points along one axis, [N, points] each.
struct Neighbours {
  std::vector<std::string> element;  ///< int64, inside
  std::vector<std::string> weight;   ///< 0 for those that count as 0; "": 1
  std::vector<std::string> slope;    ///< of the weight, by the grid's number; none of nearest
};

class AxisSampler {
 public:
  AxisSampler(NodeGradient& at, const Attributes& how, std::int64_t size, DType dtype)
      : emit_(at.emit()), how_(how), size_(size), dtype_(dtype) {}

  Neighbours sample(const std::string& grid) {
    const auto size = static_cast<double>(size_);
    // In the order of the operator's own formula.
    const std::string shifted = emit_.add(grid, number(1.0));
    std::string x = how_.align_corners
                        ? emit_.mul(emit_.div(shifted, number(2.0)), number(size - 1.0))
                        : emit_.div(emit_.sub(emit_.mul(shifted, number(size)), number(1.0)), number(2.0));
    std::string slope = number(how_.align_corners ? (size - 1.0) / 2.0 : size / 2.0);
    if (how_.nearest) x = emit_.node("Round", {x});
    if (how_.padding == "reflection") reflect(x, slope);
    const bool zeros = how_.padding == "zeros";
    if (!zeros) slope = emit_.mul(slope, strictly_inside(x));
    // Far outside is as just outside; a larger number may not be an integer's.
    x = zeros ? clipped(x, -2.0, size + 1.0) : clipped(x, 0.0, size - 1.0);
    const std::string floor = emit_.node("Floor", {x});
    const std::string fraction = emit_.sub(x, floor);
    const std::string first = emit_.cast(floor, DType::int64);
    Neighbours result;
    const auto add = [&](const std::string& place, const std::string& weight, const std::string& its_slope) {
      const std::string inside = emit_.node("Min", {emit_.node("Max", {place, emit_.index(0)}), last()});
      const std::string counts = zeros ? emit_.mask("Equal", {place, inside}, dtype_) : "";
      result.element.push_back(inside);
      result.weight.push_back(zeros ? emit_.mul(weight, counts) : weight);
      result.slope.push_back(zeros ? emit_.mul(its_slope, counts) : its_slope);
    };
    if (how_.nearest) {
      const std::string inside = emit_.node("Min", {emit_.node("Max", {first, emit_.index(0)}), last()});
      return {{inside}, {zeros ? emit_.mask("Equal", {first, inside}, dtype_) : ""}, {}};
    }
    add(first, emit_.sub(number(1.0), fraction), emit_.node("Neg", {slope}));
    add(emit_.add(first, emit_.index(1)), fraction, slope);
    return result;
  }

 private:
  std::string last() { return emit_.index(size_ - 1); }
  std::string number(double value) { return emit_.scalar(value, dtype_); }
  std::string clipped(const std::string& x, double low, double high) {
    return emit_.node("Min", {emit_.node("Max", {x, number(low)}), number(high)});
  }
  std::string strictly_inside(const std::string& x) {
    return emit_.mul(emit_.mask("Greater", {x, number(0.0)}, dtype_),
                     emit_.mask("Less", {x, number(static_cast<double>(size_) - 1.0)}, dtype_));
  }
  // Back and forth between the centres of the outer elements, or between their edges.
  void reflect(std::string& x, std::string& slope) {
    const double low = how_.align_corners ? 0.0 : -0.5;
    const double span = static_cast<double>(size_) - (how_.align_corners ? 1.0 : 0.0);
    if (span <= 0.0) return;  // a single element
    const std::string begun = emit_.sub(x, number(low));
    const std::string period = number(2.0 * span);
    const std::string turns = emit_.node("Floor", {emit_.div(begun, period)});
    const std::string place = emit_.sub(begun, emit_.mul(turns, period));
    const std::string returning = emit_.node("Greater", {place, number(span)});
    x = emit_.add(emit_.node("Where", {returning, emit_.sub(period, place), place}), number(low));
    slope = emit_.mul(slope, emit_.node("Where", {returning, number(-1.0), number(1.0)}));
  }

  GradientEmitter& emit_;
  const Attributes& how_;
  std::int64_t size_;
  DType dtype_;
};

Result<Attributes> read(NodeGradient& at) {
  Attributes how;
  DRIFTSCOPE_TRY(const std::string mode, string_attribute(at.node(), "mode", "linear"));
  if (mode == "cubic" || mode == "bicubic") return at.unsupported_form("of cubic interpolation");
  how.nearest = mode == "nearest";
  DRIFTSCOPE_TRY(how.padding, string_attribute(at.node(), "padding_mode", "zeros"));
  DRIFTSCOPE_TRY(how.align_corners, flag_attribute(at.node(), "align_corners", false));
  return how;
}

/// One neighbour of all points: [N, points] each.
struct Corner {
  std::string place;               // in the plane
  std::vector<std::size_t> which;  // by axis: of Neighbours
};

// Of the weights; along one axis of the slope in place of it.
std::string product_of(GradientEmitter& emit, const std::vector<Neighbours>& axes, const Corner& corner,
                       std::size_t slope_of) {
  std::string product;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string& factor =
        i == slope_of ? axes[i].slope[corner.which[i]] : axes[i].weight[corner.which[i]];
    product = product.empty() ? factor : factor.empty() ? product : emit.mul(product, factor);
  }
  return product;
}

std::vector<Corner> corners_of(GradientEmitter& emit, const std::vector<Neighbours>& axes,
                               const Ints& sizes) {
  std::vector<Corner> corners = {{}};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::vector<Corner> next;
    for (const Corner& corner : corners)
      for (std::size_t k = 0; k < axes[i].element.size(); ++k) {
        Corner one = corner;
        one.which.push_back(k);
        const std::string& element = axes[i].element[k];
        one.place = i == 0 ? element : emit.add(emit.mul(one.place, emit.index(sizes[i])), element);
        next.push_back(std::move(one));
      }
    corners = std::move(next);
  }
  return corners;
}

Status grid_sample(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const Attributes how, read(at));
  if (how.nearest && at.wanted(1)) at.add(1, emit.zeros_like(at.x(1), at.input(1).dtype));
  if (how.nearest && !at.wanted(0)) return {};
  const DType dtype = at.input(0).dtype;
  DRIFTSCOPE_TRY(const SymbolicShape x, at.sizes(at.input(0)));
  const std::size_t n = x.size() - 2;
  Ints sizes;
  std::int64_t plane = 1;
  for (std::size_t i = 0; i < n; ++i) {
    DRIFTSCOPE_TRY(const std::int64_t size, at.size(at.input(0), 2 + i));
    sizes.push_back(size);
    if (__builtin_mul_overflow(plane, size, &plane)) return at.unsupported_form("of so large a plane");
  }
  if (plane == 0) return at.unsupported_form("of empty planes");
  // The last number of a point belongs to the first axis. 0: as it is.
  const std::string points = emit.reshape(at.input(1).dtype == dtype ? at.x(1) : emit.cast(at.x(1), dtype),
                                          {0, -1, static_cast<std::int64_t>(n)});
  std::vector<Neighbours> axes;
  for (std::size_t i = 0; i < n; ++i) {
    const auto last = static_cast<std::int64_t>(n - 1 - i);
    const std::string one = emit.squeeze(emit.slice(points, {last}, {last + 1}, {2}), {2});
    axes.push_back(AxisSampler(at, how, sizes[i], dtype).sample(one));
  }
  const auto corners = corners_of(emit, axes, sizes);
  const std::string flat = emit.reshape(at.x(0), {0, 0, plane});
  const std::string dy = emit.reshape(at.dy(), {0, 0, -1});
  if (at.wanted(0)) {
    std::vector<std::string> parts, places;
    for (const Corner& corner : corners) {
      const std::string weight = product_of(emit, axes, corner, n);
      parts.push_back(weight.empty() ? dy : emit.mul(dy, emit.unsqueeze(weight, {1})));
      places.push_back(emit.unsqueeze(corner.place, {1}));
    }
    const std::string updates = emit.concat(parts, 2);
    const std::string where = emit.node("Expand", {emit.concat(places, 2), emit.node("Shape", {updates})});
    const std::string sums = emit.node("ScatterElements", {emit.zeros_like(flat, dtype), where, updates},
                                       {{"axis", std::int64_t{2}}, {"reduction", std::string("add")}});
    at.add(0, emit.node("Reshape", {sums, at.shape_of_input(0)}));
  }
  if (how.nearest || !at.wanted(1)) return {};
  std::vector<std::string> by_axis(n);
  for (const Corner& corner : corners) {
    const std::string where =
        emit.node("Expand", {emit.unsqueeze(corner.place, {1}), emit.node("Shape", {dy})});
    const std::string values = emit.node("GatherElements", {flat, where}, {{"axis", std::int64_t{2}}});
    const std::string sum = emit.reduce("ReduceSum", emit.mul(values, dy), {1}, false);
    for (std::size_t i = 0; i < n; ++i) {
      const std::string part = emit.mul(sum, product_of(emit, axes, corner, i));
      by_axis[i] = by_axis[i].empty() ? part : emit.add(by_axis[i], part);
    }
  }
  std::vector<std::string> numbers;
  for (std::size_t i = n; i-- > 0;) numbers.push_back(emit.unsqueeze(by_axis[i], {2}));
  const std::string gradient = emit.node("Reshape", {emit.concat(numbers, 2), at.shape_of_input(1)});
  at.add(1, at.input(1).dtype == dtype ? gradient : emit.cast(gradient, at.input(1).dtype));
  return {};
}

}  // namespace
}  // namespace gradient_grid_sample

namespace gradient_rules::grid_sample {

void add_to(GradientRuleTable& table) { table.add("GridSample", gradient_grid_sample::grid_sample); }

}  // namespace gradient_rules::grid_sample

}  // namespace driftscope
