#include "core/hunt/draft.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/hunt/draws.hpp"

namespace driftscope::hunt {
namespace {

constexpr std::int64_t onnx_opset = 21;
constexpr std::int64_t most_output_elements = 8 * most_elements;

/// Sizes are bounded by draw_shape: only memory can fail here, which ends the program as elsewhere.
Tensor made(DType dtype, const Shape& shape) {
  auto tensor = Tensor::make(dtype, shape);
  if (!tensor.ok()) throw std::bad_alloc();
  return *std::move(tensor);
}

SymbolicShape symbolic(const Shape& shape) {
  SymbolicShape result;
  for (const std::int64_t size : shape) result.push_back({size, ""});
  return result;
}

}  // namespace

Draft::Draft(std::uint64_t seed, const Fill& fill) : rng_(seed), fill_(&fill) {
  model_.ir_version = 10;
  model_.producer = "driftscope";
  model_.opsets[""] = onnx_opset;
  model_.graph.name = "hunt";
}

std::string Draft::new_name(char kind) { return fmt::format("{}{}", kind, names_++); }

DraftValue Draft::operand(int rank, DType dtype) { return operand(rank, rank, dtype); }

DraftValue Draft::operand(int low, int high, DType dtype) {
  std::vector<DraftValue> fitting;
  for (const DraftValue& value : made_)
    if (value.dtype == dtype && value.rank() >= low && value.rank() <= high) fitting.push_back(value);
  if (!fitting.empty() && !happens(rng_, 4)) return fitting[rng_.below(fitting.size())];
  return input(draw_shape(rng_, static_cast<int>(between(rng_, low, high))), dtype);
}

DraftValue Draft::input(const Shape& shape, DType dtype) {
  DraftValue value{new_name('x'), dtype, shape};
  auto tensor = filled(dtype, shape, *fill_, rng_);
  if (!tensor.ok()) throw std::bad_alloc();
  inputs_.push_back({value.name, *std::move(tensor)});
  model_.graph.inputs.push_back({value.name, dtype, symbolic(shape)});
  return value;
}

DraftValue Draft::initializer(Tensor tensor) {
  DraftValue value{new_name('w'), tensor.dtype(), tensor.shape()};
  model_.graph.initializers.push_back({value.name, std::move(tensor)});
  return value;
}

DraftValue Draft::weight(const Shape& shape, double scale, double mean, DType dtype) {
  Tensor tensor = made(dtype, shape);
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i)
    store_number(tensor, i, mean + scale * double{rng_.normal()});
  return initializer(std::move(tensor));
}

DraftValue Draft::whole_numbers(const Shape& shape, std::int64_t low, std::int64_t high, DType dtype) {
  Tensor tensor = made(dtype, shape);
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i)
    store_number(tensor, i, static_cast<double>(between(rng_, low, high)));
  return initializer(std::move(tensor));
}

DraftValue Draft::constant(const std::vector<std::int64_t>& values) {
  Tensor tensor = made(DType::int64, {std::ssize(values)});
  std::ranges::copy(values, tensor.mutable_values<std::int64_t>().begin());
  return initializer(std::move(tensor));
}

DraftValue Draft::constant(const std::vector<float>& values) {
  Tensor tensor = made(DType::float32, {std::ssize(values)});
  std::ranges::copy(values, tensor.mutable_values<float>().begin());
  return initializer(std::move(tensor));
}

DraftValue Draft::scalar(float value) { return scalar_of(DType::float32, double{value}); }

DraftValue Draft::scalar_of(DType dtype, double value) {
  Tensor tensor = made(dtype, {});
  store_number(tensor, 0, value);
  return initializer(std::move(tensor));
}

bool Draft::node(const std::string& op, const std::vector<std::string>& inputs,
                 std::vector<Attribute> attributes, int outputs, const std::string& domain) {
  Model longer = model_;
  ModelNode node;
  node.op_type = op;
  node.domain = domain;
  node.name = fmt::format("n{}", model_.graph.nodes.size());
  node.inputs = inputs;
  const int first_name = names_;
  for (int i = 0; i < outputs; ++i) node.outputs.push_back(new_name('y'));
  node.attributes = SharedList<Attribute>(std::move(attributes));
  if (!domain.empty()) longer.opsets[domain] = 1;
  for (const std::string& output : node.outputs) longer.graph.outputs.push_back({output, {}, {}});
  longer.graph.nodes.push_back(node);
  const auto refuse = [&] { return names_ = first_name, false; };
  auto graph = build_graph(longer);
  if (!graph.ok()) return refuse();
  graph = infer_shapes(*std::move(graph));
  if (!graph.ok() || !graph->notes.empty() || !graph->nodes.back().opaque.empty()) return refuse();
  std::vector<DraftValue> values;
  for (const std::string& output : node.outputs) {
    const Value& value = graph->values[*graph->find_value(output)];
    const auto shape = value.static_shape();
    if (!shape || value.dtype == DType::undefined) return refuse();
    const std::int64_t elements = element_count(*shape);
    if (elements == 0 || elements > most_output_elements) return refuse();
    values.push_back({output, value.dtype, *shape});
  }
  model_ = std::move(longer);
  made_.insert(made_.end(), values.rbegin(), values.rend());
  return true;
}

}  // namespace driftscope::hunt
