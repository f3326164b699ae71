// Pad: PadV2 with a constant, MirrorPad where one reflection suffices; edges, wrapping and cropping choose
// elements axis by axis.
#include <fmt/format.h>

#include <algorithm>

#include "core/convert/tf/elementwise.hpp"
#include "core/convert/tf/selection.hpp"
#include "core/model/indices_of.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::tf::operators::pad {
namespace {

struct Pads {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> end;
  bool crops = false;
};

Result<Pads> read_pads(const Lowering& lowering, const OnnxNode& node) {
  const std::size_t rank = lowering.rank(node.inputs[0]);
  Pads pads{std::vector<std::int64_t>(rank, 0), std::vector<std::int64_t>(rank, 0)};
  Ints list;
  if (node.opset < 11) {
    DRIFTSCOPE_TRY(list, ints_attribute(node, "pads", {}));
  } else {
    DRIFTSCOPE_TRY(const Tensor* const tensor, lowering.known(node, 1, "pads"));
    DRIFTSCOPE_TRY(list, integers_of(*tensor, input_label(1, "pads")));
  }
  Ints axes;
  if (Lowering::has_input(node, 3)) {
    DRIFTSCOPE_TRY(const Tensor* const tensor, lowering.known(node, 3, "axes"));
    DRIFTSCOPE_TRY(axes, integers_of(*tensor, input_label(3, "axes")));
  } else {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (list.size() != 2 * axes.size()) return bad_input("pads: expected two numbers for each axis");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(axes[i], rank));
    pads.begin[axis] = list[i];
    pads.end[axis] = list[i + axes.size()];
    pads.crops = pads.crops || list[i] < 0 || list[i + axes.size()] < 0;
  }
  return pads;
}

// [rank, 2] in the order of the tensor.
Result<std::string> paddings(Lowering& lowering, const Pads& pads, const Order& order) {
  std::vector<std::int64_t> pairs;
  for (std::size_t place = 0; place < pads.begin.size(); ++place) {
    const std::size_t axis = order.empty() ? place : order[place];
    pairs.push_back(std::max<std::int64_t>(pads.begin[axis], 0));
    pairs.push_back(std::max<std::int64_t>(pads.end[axis], 0));
  }
  DRIFTSCOPE_TRY(Tensor tensor,
                 Tensor::from_values<std::int64_t>({static_cast<std::int64_t>(pads.begin.size()), 2}, pairs));
  return lowering.constant(tensor, "paddings");
}

Result<double> fill_of(const Lowering& lowering, const OnnxNode& node) {
  if (node.opset < 11) {
    DRIFTSCOPE_TRY(const float value, float_attribute(node, "value", 0.0f));
    return static_cast<double>(value);
  }
  if (!Lowering::has_input(node, 2)) return 0.0;
  DRIFTSCOPE_TRY(const Tensor* const tensor, lowering.known(node, 2, "constant_value"));
  if (tensor->elements() != 1) return bad_input("input 2 (constant_value): expected one number");
  if (tensor->dtype() == DType::float32) return static_cast<double>(tensor->values<float>()[0]);
  if (tensor->dtype() == DType::boolean) return static_cast<double>(tensor->values<std::uint8_t>()[0]);
  const auto values = indices_of(*tensor);
  if (values.empty()) return unsupported("a constant_value of this type has no equivalent");
  return static_cast<double>(values[0]);
}

// What negative pads leave.
Result<std::string> cropped(Lowering& lowering, const std::string& tensor, const Pads& pads,
                            const Order& order) {
  if (!pads.crops) return tensor;
  TensorInfo info = lowering.info(tensor);
  std::vector<std::int64_t> begin, size;
  for (std::size_t place = 0; place < info.shape.size(); ++place) {
    const std::size_t axis = order.empty() ? place : order[place];
    begin.push_back(std::max<std::int64_t>(-pads.begin[axis], 0));
    size.push_back(info.shape[place] - begin.back() - std::max<std::int64_t>(-pads.end[axis], 0));
  }
  info.shape = size;
  DRIFTSCOPE_TRY(const std::string from, lowering.ints(begin, "begin"));
  DRIFTSCOPE_TRY(const std::string sizes, lowering.ints(size, "size"));
  return lowering.make("cropped", "Slice", {tensor, from, sizes}, {}, std::move(info));
}

Status lower_constant(Lowering& lowering, const OnnxNode& node) {
  const ValueId x = node.inputs[0];
  DRIFTSCOPE_TRY(const Pads pads, read_pads(lowering, node));
  DRIFTSCOPE_TRY(const double value, fill_of(lowering, node));
  const Order order = lowering.order(x);
  DRIFTSCOPE_TRY(std::string tensor, lowering.read(x, order));
  DRIFTSCOPE_TRY(tensor, cropped(lowering, tensor, pads, order));
  DRIFTSCOPE_TRY(const std::string around, paddings(lowering, pads, order));
  if (is_narrow(lowering.info(tensor).dtype))
    return unsupported(fmt::format("padding of {} has no equivalent", dtype_name(lowering.dtype(x))));
  DRIFTSCOPE_TRY(const std::string fill, lowering.scalar(value, lowering.dtype(x), "fill"));
  return lowering.give(node.outputs[0], "PadV2", {tensor, around, fill}, {}, order);
}

Status lower(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const std::string mode, string_attribute(node, "mode", "constant"));
  if (mode == "constant") return lower_constant(lowering, node);
  DRIFTSCOPE_TRY(const Pads pads, read_pads(lowering, node));
  const Shape shape = lowering.shape(node.inputs[0]);
  bool mirrors = mode == "reflect" && !pads.crops;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    mirrors = mirrors && pads.begin[axis] < shape[axis] && pads.end[axis] < shape[axis];
  if (!mirrors) return give_selection(lowering, node);
  const Order order = lowering.order(node.inputs[0]);
  DRIFTSCOPE_TRY(const std::string tensor, lowering.read(node.inputs[0], order));
  DRIFTSCOPE_TRY(const std::string around, paddings(lowering, pads, order));
  return lowering.give(node.outputs[0], "MirrorPad", {tensor, around}, {{"mode", std::string("REFLECT")}},
                       order);
}

}  // namespace

void add_to(OperatorTable& table) { table.add("Pad", lower, Prefers::any); }

}  // namespace driftscope::tf::operators::pad
