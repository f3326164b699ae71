// Gather, GatherND, GatherElements.
#include "core/convert/tf/indices.hpp"
#include "core/convert/tf/selection.hpp"

namespace driftscope::tf::operators::gather {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  const Shape x = lowering.shape(node.inputs[0]);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 0));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, x.size()));
  DRIFTSCOPE_TRY(const std::string tensor, lowering.read(node.inputs[0]));
  DRIFTSCOPE_TRY(const std::string indices, read_indices(lowering, node.inputs[1], x[axis]));
  DRIFTSCOPE_TRY(const std::string at, lowering.scalar_int(static_cast<std::int64_t>(axis), "axis"));
  return lowering.give(node.outputs[0], "GatherV2", {tensor, indices, at}, {{"batch_dims", std::int64_t{0}}});
}

Status lower_nd(Lowering& lowering, const OnnxNode& node) {
  if (lowering.constant(node.inputs[1]) != nullptr) return give_selection(lowering, node);
  DRIFTSCOPE_TRY(const std::int64_t batch, int_attribute(node, "batch_dims", 0));
  if (batch != 0) return unsupported("batch_dims with indices that are not known has no equivalent");
  const Shape x = lowering.shape(node.inputs[0]);
  const std::int64_t depth = lowering.shape(node.inputs[1]).back();
  DRIFTSCOPE_TRY(const std::string tensor, lowering.read(node.inputs[0]));
  DRIFTSCOPE_TRY(const std::string given, lowering.read(node.inputs[1]));
  const std::vector<std::int64_t> sizes(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(depth));
  DRIFTSCOPE_TRY(Tensor around, Tensor::from_values<std::int64_t>({depth}, sizes));
  DRIFTSCOPE_TRY(const std::string size, lowering.constant(around, "sizes"));
  const std::string below =
      lowering.elementwise("is_negative", "Less", {given, lowering.number(0, DType::int32)}, DType::boolean);
  const std::string wrapped = lowering.elementwise("wrapped", "AddV2", {given, size});
  const std::string indices =
      lowering.elementwise("index", "SelectV2", {below, wrapped, given}, DType::int32);
  return lowering.give(node.outputs[0], "GatherNd", {tensor, indices});
}

// The number of an element in memory is its index along the axis times the elements that each step passes,
// plus what its other coordinates come to, which is known.
Status lower_elements(Lowering& lowering, const OnnxNode& node) {
  if (lowering.constant(node.inputs[1]) != nullptr) return give_selection(lowering, node);
  const Shape x = lowering.shape(node.inputs[0]);
  const Shape y = lowering.shape(node.outputs[0]);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 0));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, x.size()));
  std::vector<std::int64_t> strides(x.size(), 1);
  for (std::size_t i = x.size(); i-- > 1;) strides[i - 1] = strides[i] * x[i];
  DRIFTSCOPE_TRY(Tensor others, Tensor::make(DType::int64, y, "offsets"));
  const auto offsets = others.mutable_values<std::int64_t>();
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t k = y.size(); k-- > 0; rest /= y[k])
      if (k != axis) offsets[i] += rest % y[k] * strides[k];
  }
  DRIFTSCOPE_TRY(const std::string index, read_indices(lowering, node.inputs[1], x[axis]));
  DRIFTSCOPE_TRY(const std::string offset, lowering.constant(others, "offsets"));
  const std::string steps = lowering.elementwise(
      "along_axis", "Mul", {index, lowering.number(static_cast<double>(strides[axis]), DType::int32)});
  const std::string number = lowering.elementwise("element", "AddV2", {steps, offset});
  DRIFTSCOPE_TRY(std::string tensor, lowering.read_memory(node.inputs[0]));
  DRIFTSCOPE_TRY(tensor, lowering.reshape("elements", tensor, {element_count(x)}));
  DRIFTSCOPE_TRY(const std::string at, lowering.scalar_int(0, "axis"));
  return lowering.give(node.outputs[0], "GatherV2", {tensor, number, at}, {{"batch_dims", std::int64_t{0}}});
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("Gather", lower);
  table.add("GatherND", lower_nd);
  table.add("GatherElements", lower_elements);
}

}  // namespace driftscope::tf::operators::gather
