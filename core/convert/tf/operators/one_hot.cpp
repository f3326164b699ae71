// OneHot and Hardmax: a comparison of indices with the numbers of an axis.
#include <numeric>

#include "core/convert/tf/indices.hpp"
#include "core/model/indices_of.hpp"

namespace driftscope::tf::operators::one_hot {
namespace {

// 0, 1, … along `axis` of `rank`.
Result<std::string> numbers_along(Lowering& lowering, std::size_t axis, std::size_t rank, std::int64_t size) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(size));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  Shape shape(rank, 1);
  shape[axis] = size;
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::from_values<std::int64_t>(shape, numbers));
  return lowering.constant(tensor, "numbers");
}

Status lower(Lowering& lowering, const OnnxNode& node) {
  const ValueId y = node.outputs[0];
  const Shape shape = lowering.shape(y);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", -1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, shape.size()));
  DRIFTSCOPE_TRY(const Tensor* const values, lowering.known(node, 2, "values"));
  std::array<double, 2> off_on{};
  if (values->dtype() == DType::float32) {
    for (std::size_t i = 0; i < 2; ++i) off_on[i] = static_cast<double>(values->values<float>()[i]);
  } else {
    const auto integers = indices_of(*values);
    if (integers.size() != 2) return unsupported("values of this type have no equivalent");
    for (std::size_t i = 0; i < 2; ++i) off_on[i] = static_cast<double>(integers[i]);
  }
  std::string indices;
  if (is_floating(lowering.dtype(node.inputs[0]))) {
    DRIFTSCOPE_TRY(const std::string floats, lowering.read(node.inputs[0]));
    const std::string whole = lowering.make("whole", "Cast", {floats}, {{"DstT", DType::int32}},
                                            {DType::int32, lowering.info(floats).shape, {}});
    const std::string below = lowering.elementwise("is_negative", "Less",
                                                   {whole, lowering.number(0, DType::int32)}, DType::boolean);
    const std::string wrapped = lowering.elementwise(
        "wrapped", "AddV2", {whole, lowering.number(static_cast<double>(shape[axis]), DType::int32)});
    indices = lowering.elementwise("index", "SelectV2", {below, wrapped, whole}, DType::int32);
  } else {
    DRIFTSCOPE_TRY(indices, read_indices(lowering, node.inputs[0], shape[axis]));
  }
  Shape with_axis = shape;
  with_axis[axis] = 1;
  DRIFTSCOPE_TRY(indices, lowering.reshape("with_axis", indices, with_axis));
  DRIFTSCOPE_TRY(const std::string numbers, numbers_along(lowering, axis, shape.size(), shape[axis]));
  const std::string equal = lowering.elementwise("is_hot", "Equal", {indices, numbers}, DType::boolean);
  const DType type = lowering.dtype(y);
  return lowering.give(y, "SelectV2",
                       {equal, lowering.number(off_on[1], type), lowering.number(off_on[0], type)});
}

// Before opset 13 over all axes from `axis` on.
Status lower_hardmax(Lowering& lowering, const OnnxNode& node) {
  const Shape shape = lowering.shape(node.inputs[0]);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", node.opset < 13 ? 1 : -1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, shape.size(), node.opset < 13));
  Shape three = {1, 1, 1};
  if (element_count(shape) == 0) return unsupported("an empty tensor has no largest element");
  for (std::size_t i = 0; i < shape.size(); ++i)
    three[i < axis ? 0 : (i == axis || node.opset < 13) ? 1 : 2] *= shape[i];
  DRIFTSCOPE_TRY(std::string x, lowering.read_memory(node.inputs[0]));
  DRIFTSCOPE_TRY(x, lowering.reshape("three_axes", x, three));
  DRIFTSCOPE_TRY(const std::string at, lowering.scalar_int(1, "dimension"));
  std::string index =
      lowering.make("largest", "ArgMax", {x, at}, {}, {DType::int32, {three[0], three[2]}, {}});
  DRIFTSCOPE_TRY(index, lowering.reshape("with_axis", index, {three[0], 1, three[2]}));
  DRIFTSCOPE_TRY(const std::string numbers, numbers_along(lowering, 1, 3, three[1]));
  const std::string equal = lowering.elementwise("is_largest", "Equal", {index, numbers}, DType::boolean);
  return lowering.give_reshaped(
      node.outputs[0], lowering.elementwise("ones", "SelectV2",
                                            {equal, lowering.number(1), lowering.number(0)}, DType::float32));
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("OneHot", lower);
  table.add("Hardmax", lower_hardmax);
}

}  // namespace driftscope::tf::operators::one_hot
