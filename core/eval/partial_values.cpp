// Compiled for size on the web (cmake/core.cmake).
#include "core/eval/partial_values.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/eval/evaluate.hpp"
#include "core/graph/attributes.hpp"
#include "core/model/indices_of.hpp"

namespace driftscope {
namespace {

// Whether the elements of this input move to the output unchanged; all other inputs must be constant.
bool moves_input(const Node& node, std::size_t input) {
  constexpr std::array<std::string_view, 8> first_moves = {"Gather",  "Slice",    "Squeeze", "Unsqueeze",
                                                           "Reshape", "Identity", "Split",   "Cast"};
  if (!node.domain.empty()) return false;
  if (node.op_type == "Concat") return true;
  return input == 0 && std::find(first_moves.begin(), first_moves.end(), node.op_type) != first_moves.end();
}

// Only a cast that changes nothing.
bool keeps_integers(const Node& node) {
  if (node.op_type != "Cast") return true;
  const auto to = int_attribute(node, "to", 0);
  return to.ok() && *to == static_cast<std::int64_t>(DType::int64);
}

}  // namespace

std::optional<SymbolicShape> as_sizes(const PartialVector& vector) {
  SymbolicShape shape;
  for (const PartialElement& element : vector.elements) {
    if (!element.size && element.number < 0) return std::nullopt;
    shape.push_back(element.size ? *element.size : Dimension{element.number, ""});
  }
  return shape;
}

std::optional<PartialVector> partial_of(const Tensor& tensor) {
  if (tensor.rank() > 1 || tensor.elements() > max_partial_elements ||
      (tensor.dtype() != DType::int64 && tensor.dtype() != DType::int32))
    return std::nullopt;
  PartialVector vector{tensor.shape(), {}};
  for (const std::int64_t number : indices_of(tensor)) vector.elements.push_back({number, {}});
  return vector;
}

std::vector<PartialVector> move_partial(const Node& node, std::span<const PartialVector* const> data,
                                        std::span<const Tensor* const> constants, ThreadPool& threads) {
  if (node.inputs.empty() || !moves_input(node, 0) || !keeps_integers(node)) return {};
  // The elements of all data inputs, and for each input a tensor of their indices.
  std::vector<PartialElement> table;
  std::vector<Tensor> numbers(node.inputs.size());
  std::vector<const Tensor*> inputs(node.inputs.size(), nullptr);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == no_value) continue;
    if (!moves_input(node, i)) {
      if (constants[i] == nullptr) return {};
      inputs[i] = constants[i];
      continue;
    }
    if (data[i] == nullptr) return {};
    std::vector<std::int64_t> places;
    for (const PartialElement& element : data[i]->elements) {
      places.push_back(static_cast<std::int64_t>(table.size()));
      table.push_back(element);
    }
    auto tensor = Tensor::from_values<std::int64_t>(data[i]->shape, places);
    if (!tensor.ok()) return {};
    numbers[i] = *std::move(tensor);
    inputs[i] = &numbers[i];
  }
  const auto outputs = evaluate_strict(node, inputs, threads);
  if (!outputs.ok()) return {};
  std::vector<PartialVector> result;
  for (const Tensor& output : *outputs) {
    if (output.rank() > 1 || output.elements() > max_partial_elements) return {};
    PartialVector vector{output.shape(), {}};
    for (const std::int64_t place : indices_of(output))
      vector.elements.push_back(table[static_cast<std::size_t>(place)]);
    result.push_back(std::move(vector));
  }
  return result;
}

}  // namespace driftscope
