// Pad with a constant, in the value's own layout.
#include <algorithm>

#include "core/engines/fast/lowering.hpp"
#include "core/ops/shared/indices.hpp"

namespace driftscope::fast::pad {

constexpr IntsSource pads_source{"pads", 1, 11};

// Nothing if they come from an input that is not constant.
std::optional<Ints> known_ints(const Lowering& lowering, const Node& node, const IntsSource& source) {
  if (node.opset < source.input_since) {
    const auto ints = ints_attribute(node, source.name, {});
    return ints.ok() ? std::optional<Ints>(*ints) : std::nullopt;
  }
  if (!lowering.has_input(node, source.input)) return Ints{};
  const Tensor* tensor = lowering.constant(node.inputs[source.input]);
  if (tensor == nullptr) return std::nullopt;
  return indices_of(*tensor);
}

std::optional<float> fill_of(const Lowering& lowering, const Node& node) {
  if (node.opset < 11) {
    const auto value = float_attribute(node, "value", 0.0f);
    return value.ok() ? std::optional<float>(*value) : std::nullopt;
  }
  if (!lowering.has_input(node, 2)) return 0.0f;
  const Tensor* tensor = lowering.constant(node.inputs[2]);
  if (tensor == nullptr || tensor->elements() != 1) return std::nullopt;
  return tensor->values<float>()[0];
}

Result<bool> lower_pad(Lowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(y) || lowering.has_input(node, 3)) return false;
  const Shape shape = lowering.shape(x);
  const auto mode = string_attribute(node, "mode", "constant");
  const auto pads = known_ints(lowering, node, pads_source);
  const auto fill = fill_of(lowering, node);
  if (!mode.ok() || *mode != "constant" || !pads || !fill || pads->size() != 2 * shape.size() ||
      shape.size() > XNN_MAX_TENSOR_DIMS ||
      std::any_of(pads->begin(), pads->end(), [](auto pad) { return pad < 0; }))
    return false;
  Layout layout = lowering.layout(x);
  if (!layout.plain() && (shape.size() < 3 || layout != channels_last(shape))) layout = {};
  std::vector<std::size_t> dims;
  std::vector<std::size_t> before;
  std::vector<std::size_t> after;
  for (const std::size_t axis : axes_in_memory(shape, layout)) {
    dims.push_back(static_cast<std::size_t>(shape[axis]));
    before.push_back(static_cast<std::size_t>((*pads)[axis]));
    after.push_back(static_cast<std::size_t>((*pads)[axis + shape.size()]));
  }
  xnn_operator_t raw = nullptr;
  if (xnn_create_constant_pad_nd_x32(&*fill, 0, &raw) != xnn_status_success) return false;
  XnnOperator op(raw);
  const pthreadpool_t pool = lowering.pool_for(element_count(lowering.shape(y)));
  if (xnn_reshape_constant_pad_nd_x32(raw, dims.size(), dims.data(), before.data(), after.data(), pool) !=
      xnn_status_success)
    return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, layout.plain() ? Layout{} : channels_last(lowering.shape(y)));
  lowering.emit(std::move(op), pool, {in}, {out}, [=](xnn_operator_t it, const Memory& memory) {
    return xnn_setup_constant_pad_nd_x32(it, memory.address(in), memory.address(out));
  });
  return true;
}

void add_to(FastOperatorTable& table) { table.add("Pad", lower_pad); }

}  // namespace driftscope::fast::pad
