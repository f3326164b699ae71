// ScatterND and ScatterElements, whose elements are addressed by their numbers in memory. Replacing is
// TensorScatterUpdate; where a runtime lacks it, what ScatterNd adds up from zeros where anything was put:
// ONNX leaves open what two updates of one element give. Adding is a sum with what ScatterNd adds up.
#include <fmt/format.h>

#include "core/convert/tf/elementwise.hpp"
#include "core/convert/tf/indices.hpp"

namespace driftscope::tf::operators::scatter {
namespace {

struct Scattered {
  std::string x;
  std::string indices;  // [..., depth]
  std::string updates;
};

Result<std::string> reduction_of(const Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(std::string reduction, string_attribute(node, "reduction", "none"));
  if (reduction == "none" || reduction == "add") return reduction;
  return unsupported(fmt::format("{} has no scatter with the reduction {}, only none and add",
                                 lowering.dialect().name, reduction));
}

// ScatterNd of `updates` into zeros of the shape of x.
Result<std::string> into_zeros(Lowering& lowering, const Scattered& parts, const std::string& updates,
                               std::string_view suffix) {
  const TensorInfo x = lowering.info(parts.x);
  DRIFTSCOPE_TRY(const std::string shape, lowering.ints(x.shape, "whole_shape"));
  return lowering.make(suffix, "ScatterNd", {parts.indices, updates, shape}, {},
                       {lowering.info(updates).dtype, x.shape, {}});
}

Result<std::string> replaced(Lowering& lowering, const Scattered& parts) {
  if (lowering.has("TensorScatterUpdate"))
    return lowering.make("updated", "TensorScatterUpdate", {parts.x, parts.indices, parts.updates}, {},
                         lowering.info(parts.x));
  const Shape updates = lowering.info(parts.updates).shape;
  DRIFTSCOPE_TRY(Tensor ones, Tensor::make(DType::int32, updates, "ones"));
  for (std::int32_t& one : ones.mutable_values<std::int32_t>()) one = 1;
  DRIFTSCOPE_TRY(const std::string marks, lowering.constant(ones, "ones"));
  DRIFTSCOPE_TRY(const std::string counts, into_zeros(lowering, parts, marks, "counts"));
  const std::string zero = lowering.number(0, DType::int32);
  const std::string is_put = lowering.elementwise("is_put", "Greater", {counts, zero}, DType::boolean);
  DRIFTSCOPE_TRY(const std::string put, into_zeros(lowering, parts, parts.updates, "put"));
  return lowering.elementwise("updated", "SelectV2", {is_put, put, parts.x}, lowering.info(parts.x).dtype);
}

Result<std::string> scattered(Lowering& lowering, const OnnxNode& node, const Scattered& parts) {
  DRIFTSCOPE_TRY(const std::string reduction, reduction_of(lowering, node));
  const DType type = lowering.dtype(node.outputs[0]);
  const DType held = lowering.info(parts.x).dtype;
  const bool sums = reduction == "add" || !lowering.has("TensorScatterUpdate");
  if (sums && held != DType::float32 && held != DType::int32)
    return unsupported(fmt::format("{} has no scatter of {}", lowering.dialect().name, dtype_name(type)));
  if (reduction == "none") return replaced(lowering, parts);
  DRIFTSCOPE_TRY(const std::string sum, into_zeros(lowering, parts, parts.updates, "sums"));
  std::string whole = lowering.elementwise("added", "AddV2", {parts.x, sum});
  return is_narrow(type) ? wrapped(lowering, whole, type) : whole;
}

Status lower_elements(Lowering& lowering, const OnnxNode& node) {
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
  DRIFTSCOPE_TRY(const std::string updated, scattered(lowering, node, {tensor, number, updates}));
  return lowering.give_reshaped(node.outputs[0], updated);
}

Status lower_nd(Lowering& lowering, const OnnxNode& node) {
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
  const std::string counted = lowering.elementwise("counted", "AddV2", {given, size});
  const std::string indices =
      lowering.elementwise("index", "SelectV2", {below, counted, given}, DType::int32);
  DRIFTSCOPE_TRY(const std::string updated, scattered(lowering, node, {tensor, indices, updates}));
  return lowering.give_same(node.outputs[0], updated);
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("ScatterElements", lower_elements);
  table.add("Scatter", lower_elements);
  table.add("ScatterND", lower_nd);
}

}  // namespace driftscope::tf::operators::scatter
