#include "core/inputs/fit_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/inputs/input_sizes.hpp"

namespace driftscope {
namespace {

/// Whether a tensor can be this input.
bool fits(const Tensor& tensor, const Value& input) {
  if (input.dtype != DType::undefined && input.dtype != tensor.dtype()) return false;
  if (!input.shape) return true;
  return std::ranges::equal(*input.shape, tensor.shape(), [](const Dimension& wanted, std::int64_t size) {
    return !wanted.known() || wanted.size == size;
  });
}

const Value* input_named(const Graph& graph, const std::string& name) {
  for (const ValueId id : graph.inputs)
    if (graph.values[id].name == name) return &graph.values[id];
  return nullptr;
}

std::string listed(const std::vector<const Value*>& inputs) {
  std::string text;
  for (const Value* input : inputs) text += "\n  " + typed_input_text(*input);
  return text;
}

/// One element, as the model has it: runtimes take both.
Result<Tensor> as_scalar_or_vector(Tensor tensor, const Value& input) {
  if (!input.shape || tensor.elements() != 1 || tensor.rank() > 1) return tensor;
  const bool scalar = input.shape->empty() && tensor.rank() == 1;
  const bool vector = input.shape->size() == 1 && tensor.rank() == 0 &&
                      (!(*input.shape)[0].known() || (*input.shape)[0].size == 1);
  if (!scalar && !vector) return tensor;
  return tensor.reshaped(scalar ? Shape{} : Shape{1});
}

Error unnamed_error(const Tensor& tensor, const std::vector<const Value*>& missing) {
  std::string example = "NAME";
  for (const Value* input : missing)
    if (fits(tensor, *input)) {
      example = input->name;
      break;
    }
  return bad_input(fmt::format(
      "which input is the {} {}? The model has several: say it, as in --input {}=FILE. Not given yet:{}",
      dtype_name(tensor.dtype()), shape_text(tensor.shape()), example, listed(missing)));
}

}  // namespace

Result<NamedInputs> fit_inputs(const Graph& graph, NamedInputs inputs) {
  if (graph.inputs.size() == 1 && inputs.size() == 1 && inputs[0].name.empty())
    inputs[0].name = graph.values[graph.inputs[0]].name;
  std::vector<const Value*> missing;
  for (const ValueId id : graph.inputs)
    if (std::ranges::find(inputs, graph.values[id].name, &NamedTensor::name) == inputs.end())
      missing.push_back(&graph.values[id]);
  const auto unnamed = std::ranges::find(inputs, std::string(), &NamedTensor::name);
  if (unnamed != inputs.end() && graph.inputs.size() > 1) return unnamed_error(unnamed->tensor, missing);
  if (!missing.empty() && !inputs.empty())
    return bad_input(
        fmt::format("{} of {} inputs missing:{}\nGive each with --input NAME=FILE, or add --input seed:42, "
                    "which makes those "
                    "that are missing",
                    missing.size(), graph.inputs.size(), listed(missing)));
  for (NamedTensor& one : inputs)
    if (const Value* input = input_named(graph, one.name)) {
      DRIFTSCOPE_TRY(one.tensor, as_scalar_or_vector(std::move(one.tensor), *input));
    }
  return inputs;
}

}  // namespace driftscope
