// ScatterND and ScatterElements without a reduction: TensorScatterUpdate. Elements are addressed by their
// numbers in memory.
#include "core/convert/tf/indices.hpp"
#include "core/model/indices_of.hpp"

namespace driftscope::tf::operators::scatter {
namespace {

Status lower_elements(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const std::string reduction, string_attribute(node, "reduction", "none"));
  if (reduction != "none") return unsupported("the reduction " + reduction + " has no equivalent");
  if (!lowering.has("TensorScatterUpdate")) return unsupported("there is no TensorScatterUpdate");
  const Shape x = lowering.shape(node.inputs[0]);
  const Shape indices = lowering.shape(node.inputs[1]);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 0));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, x.size()));
  std::vector<std::int64_t> strides(x.size(), 1);
  for (std::size_t i = x.size(); i-- > 1;) strides[i - 1] = strides[i] * x[i];
  DRIFTSCOPE_TRY(Tensor others, Tensor::make(DType::int64, indices, "offsets"));
  const auto offsets = others.mutable_values<std::int64_t>();
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t k = indices.size(); k-- > 0; rest /= indices[k])
      if (k != axis) offsets[i] += rest % indices[k] * strides[k];
  }
  const std::int64_t count = element_count(indices);
  DRIFTSCOPE_TRY(const std::string index, read_indices(lowering, node.inputs[1], x[axis]));
  DRIFTSCOPE_TRY(const std::string offset, lowering.constant(others, "offsets"));
  const std::string steps = lowering.elementwise(
      "along_axis", "Mul", {index, lowering.number(static_cast<double>(strides[axis]), DType::int32)});
  std::string number = lowering.elementwise("element", "AddV2", {steps, offset});
  DRIFTSCOPE_TRY(number, lowering.reshape("elements", number, {count, 1}));
  DRIFTSCOPE_TRY(std::string tensor, lowering.read_memory(node.inputs[0]));
  DRIFTSCOPE_TRY(tensor, lowering.reshape("of_elements", tensor, {element_count(x)}));
  DRIFTSCOPE_TRY(std::string updates, lowering.read(node.inputs[2]));
  DRIFTSCOPE_TRY(updates, lowering.reshape("updates", updates, {count}));
  const std::string updated =
      lowering.make("updated", "TensorScatterUpdate", {tensor, number, updates}, {}, lowering.info(tensor));
  return lowering.give_reshaped(node.outputs[0], updated);
}

Status lower_nd(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const std::string reduction, string_attribute(node, "reduction", "none"));
  if (reduction != "none") return unsupported("the reduction " + reduction + " has no equivalent");
  if (!lowering.has("TensorScatterUpdate")) return unsupported("there is no TensorScatterUpdate");
  const Shape x = lowering.shape(node.inputs[0]);
  const std::int64_t depth = lowering.shape(node.inputs[1]).back();
  DRIFTSCOPE_TRY(const std::string tensor, lowering.read(node.inputs[0]));
  DRIFTSCOPE_TRY(const std::string given, lowering.read(node.inputs[1]));
  DRIFTSCOPE_TRY(const std::string updates, lowering.read(node.inputs[2]));
  const std::vector<std::int64_t> sizes(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(depth));
  DRIFTSCOPE_TRY(Tensor around, Tensor::from_values<std::int64_t>({depth}, sizes));
  DRIFTSCOPE_TRY(const std::string size, lowering.constant(around, "sizes"));
  const std::string below =
      lowering.elementwise("is_negative", "Less", {given, lowering.number(0, DType::int32)}, DType::boolean);
  const std::string wrapped = lowering.elementwise("wrapped", "AddV2", {given, size});
  const std::string indices =
      lowering.elementwise("index", "SelectV2", {below, wrapped, given}, DType::int32);
  return lowering.give(node.outputs[0], "TensorScatterUpdate", {tensor, indices, updates});
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("ScatterElements", lower_elements);
  table.add("Scatter", lower_elements);
  table.add("ScatterND", lower_nd);
}

}  // namespace driftscope::tf::operators::scatter
