// Operators that take parts of tensors or put parts together: what was taken goes back to its place.
#include <algorithm>

#include <fmt/format.h>

#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_parts_of {
namespace {

Result<std::size_t> axis_of(NodeGradient& at, std::int64_t fallback, std::size_t rank) {
  DRIFTSCOPE_TRY(const std::int64_t axis, int_attribute(at.node(), "axis", fallback));
  return normalize_axis(axis, rank);
}

Status concat(NodeGradient& at) {
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.output()));
  DRIFTSCOPE_TRY(const std::size_t axis, axis_of(at, 1, sizes.size()));
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < at.node().inputs.size(); ++i) {
    DRIFTSCOPE_TRY(const std::int64_t size, at.size(at.input(i), axis));
    if (at.wanted(i))
      at.add(i, at.emit().slice(at.dy(), {begin}, {begin + size}, {static_cast<std::int64_t>(axis)}));
    begin += size;
  }
  return {};
}

Status split(NodeGradient& at) {
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const std::size_t axis, axis_of(at, 0, sizes.size()));
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < at.node().outputs.size(); ++i) {
    std::string part = at.dy(i);
    parts.push_back(part.empty() ? at.emit().zeros_like(at.y(i), at.dtype()) : part);
  }
  at.add(0, at.emit().concat(parts, static_cast<std::int64_t>(axis)));
  return {};
}

// The matrix [size, count] that has a 1 where element `from[k]` became element k; −1: none.
std::string places(NodeGradient& at, std::int64_t size, const Ints& from) {
  std::vector<double> matrix(static_cast<std::size_t>(size) * from.size(), 0.0);
  for (std::size_t k = 0; k < from.size(); ++k)
    if (from[k] >= 0) matrix[static_cast<std::size_t>(from[k]) * from.size() + k] = 1.0;
  return at.emit().numbers(matrix, {size, std::ssize(from)}, at.dtype());
}

constexpr std::int64_t max_matrix = std::int64_t{1} << 26;  // elements

Status slice(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(SymbolicShape sizes, at.sizes(at.output()));
  DRIFTSCOPE_TRY(const SymbolicShape x, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const Ints starts, at.constant_ints(1, "starts"));
  DRIFTSCOPE_TRY(const Ints ends, at.constant_ints(2, "ends"));
  Ints axes;
  for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  Ints steps(starts.size(), 1);
  if (at.has_input(3)) {
    DRIFTSCOPE_TRY(axes, at.constant_ints(3, "axes"));
  }
  if (at.has_input(4)) {
    DRIFTSCOPE_TRY(steps, at.constant_ints(4, "steps"));
  }
  Ints pads(2 * x.size(), 0);
  std::string gradient = at.dy();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(axes[i], x.size()));
    if (steps[i] == 1 && starts[i] == 0 && sizes[axis] == x[axis] && !x[axis].symbol.empty()) continue;
    DRIFTSCOPE_TRY(const std::int64_t size, at.size(at.input(0), axis));
    DRIFTSCOPE_TRY(const std::int64_t count, at.size(at.output(), axis));
    std::int64_t start = starts[i] < 0 ? starts[i] + size : starts[i];
    start = std::clamp<std::int64_t>(start, 0, steps[i] < 0 ? size - 1 : size);
    if (steps[i] == 1) {
      pads[axis] = start;
      pads[x.size() + axis] = size - start - count;
      continue;
    }
    if (size * count > max_matrix) return at.unsupported_form("of a slice with steps of so many elements");
    Ints from;
    for (std::int64_t k = 0; k < count; ++k) from.push_back(start + k * steps[i]);
    DRIFTSCOPE_TRY(gradient, at.along_axis(gradient, sizes, axis, places(at, size, from), size));
    sizes[axis] = x[axis];
  }
  at.add(0, emit.pad(gradient, pads, 0.0, at.dtype()));
  return {};
}

// Where padded element k comes from; −1: the constant.
std::int64_t source_of(std::int64_t k, std::int64_t size, const std::string& mode) {
  if (k >= 0 && k < size) return k;
  if (mode == "edge") return k < 0 ? 0 : size - 1;
  if (mode == "wrap") return ((k % size) + size) % size;
  if (mode == "reflect" && size > 1) {
    const std::int64_t period = 2 * (size - 1);
    const std::int64_t place = ((k % period) + period) % period;
    return place < size ? place : period - place;
  }
  return mode == "reflect" ? 0 : -1;
}

Status pad(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  if (at.wanted(2)) return at.unsupported_form("with respect to the constant");
  DRIFTSCOPE_TRY(const std::string mode, string_attribute(at.node(), "mode", "constant"));
  DRIFTSCOPE_TRY(const SymbolicShape x, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(SymbolicShape sizes, at.sizes(at.output()));
  DRIFTSCOPE_TRY(const Ints pads, at.constant_ints(1, "pads"));
  Ints axes;
  for (std::size_t i = 0; i < pads.size() / 2; ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (at.has_input(3)) {
    DRIFTSCOPE_TRY(axes, at.constant_ints(3, "axes"));
  }
  std::string gradient = at.dy();
  Ints back(2 * x.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t begin = pads[i];
    const std::int64_t end = pads[i + axes.size()];
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(axes[i], x.size()));
    if (begin == 0 && end == 0) continue;
    if (mode == "constant") {
      back[axis] = -begin;
      back[x.size() + axis] = -end;
      continue;
    }
    DRIFTSCOPE_TRY(const std::int64_t size, at.size(at.input(0), axis));
    if (size * (size + begin + end) > max_matrix) return at.unsupported_form("of so many padded elements");
    Ints from;
    for (std::int64_t k = -begin; k < size + end; ++k) from.push_back(source_of(k, size, mode));
    DRIFTSCOPE_TRY(gradient, at.along_axis(gradient, sizes, axis, places(at, size, from), size));
    sizes[axis] = x[axis];
  }
  at.add(0, emit.pad(gradient, back, 0.0, at.dtype()));
  return {};
}

// One-hot rows of the indices, transposed, times dy: repeated indices add up.
Status gather(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const SymbolicShape x, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const SymbolicShape indices, at.sizes(at.input(1)));
  DRIFTSCOPE_TRY(const std::size_t axis, axis_of(at, 0, x.size()));
  DRIFTSCOPE_TRY(const std::int64_t size, at.size(at.input(0), axis));
  std::string index = at.x(1);
  if (at.input(1).dtype != DType::int64) index = emit.cast(index, DType::int64);
  // Negative ones count from the end.
  const std::string negative = emit.node("Less", {index, emit.index(0)});
  index = emit.node("Where", {negative, emit.add(index, emit.index(size)), index});
  const std::string chosen =
      emit.transpose(emit.one_hot(emit.reshape(index, {-1}), size, at.dtype()), {1, 0});
  const auto all = std::span(x);
  const std::int64_t before = NodeGradient::product(all.first(axis));
  const std::int64_t after = NodeGradient::product(all.subspan(axis + 1));
  DRIFTSCOPE_TRY(const Ints parts, at.reshape_sizes({before, NodeGradient::product(indices), after}));
  const std::string product = emit.matmul(chosen, emit.reshape(at.dy(), parts));
  at.add(0, emit.node("Reshape", {product, at.shape_of_input(0)}));
  return {};
}

}  // namespace
}  // namespace gradient_parts_of

namespace gradient_rules::parts {

void add_to(GradientRuleTable& table) {
  namespace rules = gradient_parts_of;
  table.add("Concat", rules::concat);
  table.add("Split", rules::split);
  table.add("Slice", rules::slice);
  table.add("Pad", rules::pad);
  table.add("Gather", rules::gather);
}

}  // namespace gradient_rules::parts

}  // namespace driftscope
