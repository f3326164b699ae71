// Another tensor of the run in place of one that the layer reads or makes: a buffer of an earlier layer, of
// its neighbour, or one whose content is no longer what it was.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/verify/variant.hpp"

namespace driftscope::variants::other_tensors {
namespace {

constexpr std::size_t most = 24;  ///< tensors tried for one place

/// Recorded or constant values of this type and shape that were there before the node ran, those nearest to
/// it first.
std::vector<ValueId> alike(const LayerCase& layer, DType dtype, const Shape& shape, ValueId besides) {
  std::vector<std::pair<std::int64_t, ValueId>> found;
  for (ValueId id = 0; id < layer.graph.values.size(); ++id) {
    if (id == besides || id == layer.value() || layer.derivation.known_dtype(id) != dtype) continue;
    const auto other = layer.derivation.known_shape(id);
    if (!other || *other != shape) continue;
    const NodeId producer = layer.graph.values[id].producer;
    if (producer != no_node && producer > layer.id) continue;  // it may be a copy of the output
    const std::int64_t at = producer == no_node ? -1 : static_cast<std::int64_t>(producer);
    found.emplace_back(std::abs(static_cast<std::int64_t>(layer.id) - at), id);
  }
  std::ranges::sort(found);
  std::vector<ValueId> ids;
  for (const auto& [distance, id] : found)
    if (ids.size() < most) ids.push_back(id);
  return ids;
}

/// The tensor, unless it is what the node reads in some place anyway.
std::optional<Tensor> unless_read(const LayerCase& layer, ValueId id) {
  auto tensor = layer.derivation.known_value(id);
  const DerivationInputs* const inputs = layer.known_inputs();
  if (!tensor || inputs == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < inputs->tensors.size(); ++i) {
    const Tensor* const own = inputs->tensor(i);
    if (own != nullptr && own->dtype() == tensor->dtype() && own->shape() == tensor->shape() &&
        std::ranges::equal(own->bytes(), tensor->bytes()))
      return std::nullopt;
  }
  return tensor;
}

std::string named(const LayerCase& layer, ValueId id) { return "(" + layer.graph.values[id].name + ")"; }

/// The layer is right for another input.
std::vector<Candidate> of_inputs(const LayerCase& layer) {
  std::vector<Candidate> list;
  const Node& node = layer.node();
  for (std::size_t place = 0; place < node.inputs.size(); ++place) {
    const ValueId own = node.inputs[place];
    if (own == no_value) continue;
    const auto shape = layer.derivation.known_shape(own);
    if (!shape || element_count(*shape) < 2) continue;
    for (const ValueId id : alike(layer, layer.derivation.known_dtype(own), *shape, own))
      list.push_back(
          {.inputs = {{place, [&layer, id] { return layer.derivation.known_value(id); }}},
           .detail = "(" + layer.graph.values[id].name + " for " + layer.graph.values[own].name + ")"});
  }
  return list;
}

/// The output is another tensor.
std::vector<Candidate> of_output(const LayerCase& layer) {
  std::vector<Candidate> list;
  if (layer.output != 0 || layer.node().inputs.empty()) return list;
  for (const ValueId id : alike(layer, layer.got.dtype(), layer.got.shape(), no_value)) {
    Node identity = layer.node();
    identity.op_type = "Identity";
    identity.domain.clear();
    identity.opset = 21;
    identity.inputs.resize(1);
    if (identity.inputs[0] == no_value) identity.inputs[0] = id;
    identity.outputs.resize(1);
    identity.attributes.edit().clear();
    list.push_back({.node = std::move(identity),
                    .inputs = {{0, [&layer, id] { return unless_read(layer, id); }}},
                    .detail = named(layer, id)});
  }
  return list;
}

}  // namespace

void add_to(VariantTable& table) {
  const auto add = [&](std::string_view family, std::string_view id, std::string_view name, int order,
                       std::vector<Candidate> (*make)(const LayerCase&)) {
    table.add({.kind = VariantKind::faulty,
               .family = family,
               .id = id,
               .name = name,
               .any_operator = true,
               .order = order,
               .candidates = make});
  };
  add("execution", "stale_values", "another tensor in place of the output", 45, of_output);
  add("input", "layer_right_for_other_input", "another tensor in place of an input", 46, of_inputs);
}

}  // namespace driftscope::variants::other_tensors
