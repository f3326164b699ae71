#include "core/gradient/rule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/eval/evaluate.hpp"
#include "core/eval/operator.hpp"
#include "core/graph/constant_nodes.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {
namespace {

// Depth of nodes on constants that are computed for a rule.
constexpr int max_constant_depth = 32;

Result<std::optional<Tensor>> constant_value(const Graph& graph, ValueId id, int depth) {
  const Value& value = graph.values[id];
  if (value.constant) return value.constant;
  if (value.producer == no_node || depth == 0) return std::optional<Tensor>();
  const Node& node = graph.nodes[value.producer];
  if (!is_deterministic(node) || !node.opaque.empty()) return std::optional<Tensor>();
  std::vector<Tensor> inputs(node.inputs.size());
  std::vector<const Tensor*> pointers;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    pointers.push_back(nullptr);
    if (node.inputs[i] == no_value) continue;
    // Of a value whose sizes are known, Shape needs no more.
    if (node.op_type == "Shape" && graph.values[node.inputs[i]].static_shape()) {
      DRIFTSCOPE_TRY(inputs[i], Tensor::make(DType::uint8, *graph.values[node.inputs[i]].static_shape()));
    } else {
      DRIFTSCOPE_TRY(const auto known, constant_value(graph, node.inputs[i], depth - 1));
      if (!known) return known;
      inputs[i] = *known;
    }
    pointers.back() = &inputs[i];
  }
  ThreadPool threads(1);
  DRIFTSCOPE_TRY(const auto outputs, evaluate_strict(node, pointers, threads));
  const auto place = std::ranges::find(node.outputs, id) - node.outputs.begin();
  return std::optional<Tensor>(outputs[static_cast<std::size_t>(place)]);
}

bool is_one(const Dimension& dimension) { return dimension.size == 1; }

}  // namespace

bool NodeGradient::has_input(std::size_t i) const {
  return i < node().inputs.size() && node().inputs[i] != no_value;
}

std::string NodeGradient::x(std::size_t i) const { return facts_.graph.values[node().inputs[i]].name; }

std::string NodeGradient::y(std::size_t i) const {
  if (i < node().outputs.size() && node().outputs[i] != no_value)
    return facts_.graph.values[node().outputs[i]].name;
  return facts_.output_name(i);
}

bool NodeGradient::wanted(std::size_t i) const { return has_input(i) && facts_.wanted[node().inputs[i]]; }

DType NodeGradient::dtype() const {
  for (std::size_t i = 0; i < node().inputs.size(); ++i)
    if (wanted(i)) return input(i).dtype;
  return DType::float32;
}

const Value& NodeGradient::input(std::size_t i) const { return facts_.graph.values[node().inputs[i]]; }

const Value& NodeGradient::output(std::size_t i) const { return facts_.graph.values[node().outputs[i]]; }

Result<SymbolicShape> NodeGradient::sizes(const Value& value) const {
  if (value.shape) return *value.shape;
  return unsupported(
      fmt::format("{}: its gradient needs the number of axes of {}, which is not known; fix the inputs' "
                  "sizes (--input-shape NAME=1x3x224x224)",
                  node_label(node()), value.name));
}

Result<std::int64_t> NodeGradient::size(const Value& value, std::size_t axis) const {
  DRIFTSCOPE_TRY(const SymbolicShape all, sizes(value));
  if (axis < all.size() && all[axis].known()) return all[axis].size;
  return unsupported(
      fmt::format("{}: its gradient needs the size of axis {} of {} ({}); fix the inputs' sizes "
                  "(--input-shape NAME=1x3x224x224)",
                  node_label(node()), axis, value.name, shape_text(all)));
}

std::int64_t NodeGradient::product(std::span<const Dimension> sizes) {
  std::int64_t all = 1;
  for (const Dimension& one : sizes) {
    if (!one.known()) return -1;
    // The product of a tensor's sizes fits; of a shape that only a file claims it may not.
    if (__builtin_mul_overflow(all, one.size, &all)) return -1;
  }
  return all;
}

Result<Ints> NodeGradient::reshape_sizes(const Ints& sizes) const {
  if (std::ranges::count(sizes, -1) <= 1) return sizes;
  return unsupported(fmt::format(
      "{}: its gradient needs all sizes but one, and more are open; fix the inputs' sizes (--input-shape "
      "NAME=1x3x224x224)",
      node_label(node())));
}

std::string NodeGradient::shape_of_input(std::size_t i) {
  if (const auto shape = input(i).static_shape()) return emit().ints(*shape);
  return emit().node("Shape", {x(i)});
}

Result<std::optional<Tensor>> NodeGradient::constant(std::size_t i) const {
  return constant_value(facts_.graph, node().inputs[i], max_constant_depth);
}

Result<Ints> NodeGradient::constant_ints(std::size_t i, std::string_view what) const {
  DRIFTSCOPE_TRY(const auto tensor, constant(i));
  if (!tensor)
    return unsupported(fmt::format("{}: its gradient needs {} as a constant, and {} depends on data",
                                   node_label(node()), what, x(i)));
  Ints values;
  if (tensor->dtype() == DType::int64)
    values.assign(tensor->values<std::int64_t>().begin(), tensor->values<std::int64_t>().end());
  else if (tensor->dtype() == DType::int32)
    values.assign(tensor->values<std::int32_t>().begin(), tensor->values<std::int32_t>().end());
  else
    return bad_input(fmt::format("{}: {} has type {}, expected int64", node_label(node()), what,
                                 dtype_name(tensor->dtype())));
  return values;
}

void NodeGradient::add(std::size_t i, std::string gradient) {
  const auto [place, fresh] = of_inputs_.try_emplace(i, gradient);
  if (!fresh) place->second = emit().add(place->second, gradient);
}

Status NodeGradient::add_broadcast(std::size_t i, const std::string& gradient) {
  DRIFTSCOPE_TRY(const SymbolicShape from, sizes(output()));
  DRIFTSCOPE_TRY(const SymbolicShape to, sizes(input(i)));
  // With two inputs, an open size that the other one cannot have brought in is this one's.
  std::optional<SymbolicShape> other;
  if (node().inputs.size() == 2 && has_input(1 - i)) {
    DRIFTSCOPE_TRY(other, sizes(input(1 - i)));
  }
  DRIFTSCOPE_TRY(const std::string summed, sum_to(gradient, from, to, other ? &*other : nullptr));
  add(i, summed);
  return {};
}

Result<std::string> NodeGradient::sum_to(const std::string& value, const SymbolicShape& from,
                                         const SymbolicShape& to, const SymbolicShape* other) {
  if (to.size() > from.size()) return internal_error("a gradient of fewer axes than its value");
  const std::size_t added = from.size() - to.size();
  Ints leading;
  for (std::size_t axis = 0; axis < added; ++axis) leading.push_back(static_cast<std::int64_t>(axis));
  Ints kept;
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    const Dimension& wide = from[added + axis];
    if (is_one(to[axis])) {
      if (!is_one(wide)) kept.push_back(static_cast<std::int64_t>(axis));
      continue;
    }
    if (to[axis].known()) continue;
    if (to[axis] == wide && !wide.symbol.empty()) continue;
    // Of the other operand: none or 1 there.
    if (other != nullptr) {
      const std::size_t from_end = to.size() - axis;
      if (from_end > other->size() || is_one((*other)[other->size() - from_end])) continue;
    }
    return unsupported(
        fmt::format("{}: whether its input ({}) is broadcast to {} depends on sizes that are open; fix the "
                    "inputs' sizes (--input-shape NAME=1x3x224x224)",
                    node_label(node()), shape_text(to), shape_text(from)));
  }
  std::string sum = emit().reduce("ReduceSum", value, leading, false);
  return emit().reduce("ReduceSum", sum, kept, true);
}

Result<std::string> NodeGradient::along_axis(const std::string& gradient, const SymbolicShape& sizes,
                                             std::size_t axis, const std::string& matrix, std::int64_t rows) {
  const auto all = std::span(sizes);
  const std::int64_t before = product(all.first(axis));
  const std::int64_t after = product(all.subspan(axis + 1));
  DRIFTSCOPE_TRY(const Ints parts, reshape_sizes({before, sizes[axis].size, after}));
  const std::string product = emit().matmul(matrix, emit().reshape(gradient, parts));
  Ints back;
  for (std::size_t i = 0; i < sizes.size(); ++i) back.push_back(i == axis ? rows : sizes[i].size);
  for (std::size_t i = 0; i < back.size(); ++i)
    if (back[i] < 0) back[i] = -1;
  DRIFTSCOPE_TRY(const Ints shape, reshape_sizes(back));
  return emit().reshape(product, shape);
}

Error NodeGradient::unsupported_form(std::string_view what) const {
  return unsupported(fmt::format("{}: there is no gradient {}", node_label(node()), what));
}

}  // namespace driftscope
