// Compiled for size on the web (cmake/core.cmake).
#include "core/runtime/bind_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/rng.hpp"
#include "core/eval/infer_shapes.hpp"

namespace driftscope {
namespace {

std::string input_list(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    names.push_back(fmt::format("{} ({} {})", value.name, dtype_name(value.dtype),
                                value.shape ? shape_text(*value.shape) : "of any shape"));
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

Status fill_randomly(Tensor& tensor, Rng& rng, const std::string& name) {
  const bool filled = visit_plain_number(tensor.dtype(), [&]<class E>() {
    using Stored = typename E::Stored;
    for (Stored& x : tensor.mutable_values<Stored>()) {
      if constexpr (E::kind == ElementKind::floating)
        x = E::nearest(rng.normal());
      else
        x = static_cast<Stored>(rng.below(E::kind == ElementKind::boolean ? 2 : 4));
    }
  });
  if (filled) return {};
  return unsupported(fmt::format("input {}: no random values of type {}; give it with --input", name,
                                 dtype_name(tensor.dtype())));
}

/// A scalar where [1] was given, and the other way round, as the model declares it.
Result<Tensor> as_declared(const Value& value, const Tensor& given, std::vector<ModelNote>& notes) {
  if (!value.shape || value.shape->size() + given.rank() != 1 || given.elements() != 1) return given;
  Shape shape(value.shape->size(), 1);
  add_note(notes, {.kind = NoteKind::given_shape,
                   .value = value.name,
                   .declared = shape_text(given.shape()),
                   .is = shape_text(shape)});
  return given.reshaped(std::move(shape));
}

}  // namespace

Result<BoundInputs> bind_inputs(const Graph& graph, const NamedInputs& inputs) {
  const bool unnamed = graph.inputs.size() == 1 && inputs.size() == 1 && inputs[0].name.empty();
  for (std::size_t i = 0; i < inputs.size() && !unnamed; ++i) {
    bool known = false;
    for (const ValueId id : graph.inputs) known = known || graph.values[id].name == inputs[i].name;
    if (!known)
      return bad_input(fmt::format("there is no input named \"{}\"; the model's inputs are: {}",
                                   inputs[i].name, input_list(graph)));
    for (std::size_t j = 0; j < i; ++j)
      if (inputs[j].name == inputs[i].name)
        return bad_input(fmt::format("the input \"{}\" is given twice", inputs[i].name));
  }
  BoundInputs bound;
  std::vector<ModelNote> notes;
  std::vector<Shape> shapes;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    const Tensor* given = nullptr;
    for (const NamedTensor& input : inputs)
      if (unnamed || input.name == value.name) given = &input.tensor;
    if (given == nullptr)
      return bad_input(fmt::format("the input \"{}\" is missing; the model's inputs are: {}", value.name,
                                   input_list(graph)));
    if (value.dtype != DType::undefined && given->dtype() != value.dtype)
      return bad_input(fmt::format("input {}: expected {}, got {}", value.name, dtype_name(value.dtype),
                                   dtype_name(given->dtype())));
    DRIFTSCOPE_TRY(Tensor fitting, as_declared(value, *given, notes));
    shapes.push_back(fitting.shape());
    bound.inputs.push_back(std::move(fitting));
  }
  DRIFTSCOPE_TRY(Graph with_shapes, bind_shapes(graph, shapes));
  for (ModelNote& note : with_shapes.notes)
    if (std::ranges::find(graph.notes, note) == graph.notes.end()) notes.push_back(std::move(note));
  with_shapes.notes = std::move(notes);
  bound.graph = std::make_shared<const Graph>(std::move(with_shapes));
  return bound;
}

Result<NamedInputs> seeded_inputs(const Graph& graph, std::uint64_t seed) {
  NamedInputs inputs;
  Rng rng(seed);
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    if (!value.shape || value.dtype == DType::undefined)
      return bad_input(fmt::format(
          "input {}: the model does not say its type and shape; give it with --input", value.name));
    Shape shape;
    for (const Dimension& dimension : *value.shape) shape.push_back(dimension.known() ? dimension.size : 1);
    DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(value.dtype, std::move(shape), value.name));
    DRIFTSCOPE_CHECK(fill_randomly(tensor, rng, value.name));
    inputs.push_back({value.name, std::move(tensor)});
  }
  return inputs;
}

}  // namespace driftscope
