// Elements in the wrong place, of the output, of a weight, of an input: indices that are off by one, blocks
// that are not written or written twice, axes in the other order.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <array>
#include <memory>

#include "core/verify/movements.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::moved_elements {
namespace {

struct Row {
  MovementKind kind;
  std::string_view id;
  std::string_view of_output;
  std::string_view of_weights;
  std::string_view of_input;
};

constexpr std::array<Row, 9> rows = {{
    {MovementKind::last_missing, "last_block_missing", "the last part of the output not written",
     "the last part of a weight left out", "the last part of an input left out"},
    {MovementKind::last_repeated, "block_twice", "the last part of the output the same as the one before it",
     "the last part of a weight the same as the one before it",
     "the last part of an input the same as the one before it"},
    {MovementKind::shifted, "shifted", "the output shifted by one", "a weight shifted by one",
     "an input shifted by one"},
    {MovementKind::mirrored, "mirrored", "the output mirrored", "a weight mirrored", "an input mirrored"},
    {MovementKind::transposed, "transposed", "the output in another order", "a weight in another order",
     "an input in another order"},
    {MovementKind::ends_exchanged, "ends_exchanged", "the first and last part of the output exchanged",
     "the first and last part of a weight exchanged", "the first and last part of an input exchanged"},
    {MovementKind::first_for_all, "first_for_all", "the first part of the output everywhere",
     "the first part of a weight everywhere", "the first part of an input everywhere"},
    {MovementKind::lanes, "lanes", "the output in other lanes", "a weight read in other lanes",
     "an input read in other lanes"},
    {MovementKind::half_missing, "half_block_missing", "half of every block of the output not written",
     "half of every block of a weight left out", "half of every block of an input left out"},
}};

std::vector<Candidate> of_output(const LayerCase& layer, MovementKind kind) {
  std::vector<Candidate> made;
  if (layer.output != 0 || !is_floating(layer.got.dtype())) return made;
  for (Movement& movement : movements(kind, layer.got.shape()))
    made.push_back({.source = std::move(movement.source), .detail = std::move(movement.where)});
  return made;
}

// Whether a term that is left out counts as 0.
bool adds(const Node& node) {
  constexpr std::array<std::string_view, 13> operators = {
      "Conv",        "ConvTranspose",     "MatMul",    "Gemm",
      "AveragePool", "GlobalAveragePool", "ReduceSum", "ReduceMean",
      "ReduceL1",    "ReduceSumSquare",   "Einsum",    "CumSum",
      "ReduceL2"};
  return std::ranges::find(operators, node.op_type) != operators.end() || !node.domain.empty();
}

std::function<std::optional<Tensor>()> moved_value(const LayerCase& layer, ValueId id,
                                                   std::shared_ptr<const Movement> movement) {
  return [&layer, id, movement = std::move(movement)]() -> std::optional<Tensor> {
    const auto tensor = layer.derivation.known_value(id);
    if (!tensor) return std::nullopt;
    auto changed = moved(*tensor, *movement);
    if (!changed.ok()) return std::nullopt;
    return *std::move(changed);
  };
}

/// All weights of one channel each, together: a kernel that reads them at the wrong place reads all of them
/// there.
void add_joint(const LayerCase& layer, MovementKind kind, std::vector<Candidate>& made) {
  const Node& node = layer.node();
  std::vector<std::size_t> places;
  Shape shape;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == no_value || !layer.graph.values[node.inputs[i]].constant) continue;
    const auto own = layer.derivation.known_shape(node.inputs[i]);
    if (!own || own->size() != 1 || (!shape.empty() && *own != shape)) continue;
    shape = *own;
    places.push_back(i);
  }
  if (places.size() < 2) return;
  for (Movement& movement : movements(kind, shape)) {
    if (movement.leaves_out) continue;
    const auto shared = std::make_shared<Movement>(std::move(movement));
    Candidate candidate{.detail = "(all of one number per channel, " + shared->where + ")"};
    for (const std::size_t i : places)
      candidate.inputs.push_back({i, moved_value(layer, node.inputs[i], shared)});
    made.push_back(std::move(candidate));
  }
}

// Inputs that the graph computes, or its weights: these are the ones that a runtime rearranges.
std::vector<Candidate> of_inputs(const LayerCase& layer, MovementKind kind, bool weights) {
  std::vector<Candidate> made;
  const Node& node = layer.node();
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == no_value) continue;
    if (layer.graph.values[node.inputs[i]].constant.has_value() != weights) continue;
    const auto shape = layer.derivation.known_shape(node.inputs[i]);
    if (!shape) continue;
    for (Movement& movement : movements(kind, *shape)) {
      if (movement.leaves_out && !adds(node)) continue;
      std::string detail = "(" + layer.graph.values[node.inputs[i]].name + " " + movement.where + ")";
      const auto shared = std::make_shared<Movement>(std::move(movement));
      made.push_back(
          {.inputs = {{i, moved_value(layer, node.inputs[i], shared)}}, .detail = std::move(detail)});
    }
  }
  if (weights) add_joint(layer, kind, made);
  return made;
}

}  // namespace

void add_to(VariantTable& table) {
  for (const Row& row : rows) {
    const auto add = [&](std::string_view family, std::string_view name, int order,
                         std::function<std::vector<Candidate>(const LayerCase&)> candidates) {
      table.add({.kind = VariantKind::faulty,
                 .family = family,
                 .id = row.id,
                 .name = name,
                 .any_operator = true,
                 .order = order,
                 .candidates = std::move(candidates)});
    };
    const MovementKind kind = row.kind;
    add("execution", row.of_output, 20, [kind](const LayerCase& layer) { return of_output(layer, kind); });
    add("parameter", row.of_weights, 30,
        [kind](const LayerCase& layer) { return of_inputs(layer, kind, true); });
    add("input", row.of_input, 40, [kind](const LayerCase& layer) { return of_inputs(layer, kind, false); });
  }
}

}  // namespace driftscope::variants::moved_elements
