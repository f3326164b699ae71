// Resize, bilinear on NHWC, where width and height are multiplied or divided by a power of two: then the
// weights that XNNPACK derives from the sizes are those of ONNX's formula to the bit.
#include "core/engines/fast/lowering.hpp"
#include "core/ops/shared/resize_plan.hpp"

namespace driftscope::fast::resize {

bool power_of_two_apart(std::int64_t a, std::int64_t b) {
  if (a < b) std::swap(a, b);
  return b > 0 && a % b == 0 && ((a / b) & (a / b - 1)) == 0;
}

// Whether the scales that are asked for are the quotients of the sizes.
bool scales_are_quotients(const Lowering& lowering, const Node& node, const ResizeAttributes& attributes,
                          const Shape& from, const Shape& to) {
  const ResizeInputs inputs = resize_inputs(node);
  bool known = true;
  const auto given = [&](const std::optional<std::size_t>& i) -> const Tensor* {
    if (!i || !lowering.has_input(node, *i)) return nullptr;
    const Tensor* tensor = lowering.constant(node.inputs[*i]);
    known = known && tensor != nullptr;
    return tensor;
  };
  const ResizeValues values{given(inputs.roi), given(inputs.scales), given(inputs.sizes)};
  if (!known) return false;
  const auto axes = plan_resize(attributes, from, values);
  if (!axes.ok()) return false;
  for (std::size_t i = 0; i < axes->size(); ++i)
    if ((*axes)[i].scale != static_cast<double>(to[i]) / static_cast<double>(from[i])) return false;
  return true;
}

Result<bool> lower(Lowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(y)) return false;
  const Shape from = lowering.shape(x);
  const Shape to = lowering.shape(y);
  const auto attributes = read_resize(node);
  if (!attributes.ok() || from.size() != 4 || from[0] != to[0] || from[1] != to[1] ||
      !power_of_two_apart(from[2], to[2]) || !power_of_two_apart(from[3], to[3]))
    return false;
  using Coordinate = Resampling::Coordinate;
  const Resampling& how = attributes->how;
  const bool half_pixel = how.coordinate == Coordinate::half_pixel ||
                          (how.coordinate == Coordinate::pytorch_half_pixel && to[2] > 1 && to[3] > 1);
  if (how.mode != Resampling::Mode::linear || how.antialias || how.exclude_outside ||
      (!half_pixel && how.coordinate != Coordinate::asymmetric) ||
      !scales_are_quotients(lowering, node, *attributes, from, to))
    return false;
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  xnn_operator_t raw = nullptr;
  if (xnn_create_resize_bilinear2d_nhwc_f32(size(to[2]), size(to[3]),
                                            half_pixel ? 0 : XNN_FLAG_TENSORFLOW_LEGACY_MODE,
                                            &raw) != xnn_status_success)
    return false;
  XnnOperator op(raw);
  const pthreadpool_t pool = lowering.pool_for(4 * element_count(to));
  std::size_t workspace_bytes = 0;
  std::size_t alignment = 0;
  if (xnn_reshape_resize_bilinear2d_nhwc_f32(raw, size(from[0]), size(from[2]), size(from[3]), size(from[1]),
                                             size(from[1]), size(from[1]), &workspace_bytes, &alignment,
                                             pool) != xnn_status_success)
    return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, channels_last(from)));
  const BufferId out = lowering.write(y, channels_last(to));
  const BufferId workspace = lowering.scratch(workspace_bytes);
  lowering.emit(std::move(op), pool, {in}, {out, workspace}, [=](xnn_operator_t it, const Memory& memory) {
    return xnn_setup_resize_bilinear2d_nhwc_f32(it, memory.address(workspace), memory.at<const float>(in),
                                                memory.at<float>(out));
  });
  return true;
}

void add_to(FastOperatorTable& table) {
  table.add("Resize", lower);
  table.add("Upsample", lower);
}

}  // namespace driftscope::fast::resize
