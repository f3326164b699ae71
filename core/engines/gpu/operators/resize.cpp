// Resize and Upsample of images, nearest and linear: the weights of each row and column are computed here, in
// double, so that no shader follows ONNX's many formulas.
// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/ops/shared/resize_plan.hpp"

namespace driftscope::gpu::resize {

// Two sources and their weights for each element of the axis; nothing where there are more, or one lies
// outside.
Result<std::optional<Tensor>> table_of(const Resampling& how, const ResampledAxis& axis) {
  DRIFTSCOPE_TRY(Tensor table, Tensor::make(DType::float32, {axis.output, 4}, "weights"));
  float* to = table.mutable_values<float>().data();
  for (const ResampledPoint& point : resample_axis(how, axis)) {
    const std::size_t taps = point.taps.at.size();
    if (point.outside || taps == 0 || taps > 2) return std::optional<Tensor>();
    for (std::size_t i = 0; i < 2; ++i) {
      to[i] = static_cast<float>(point.taps.at[std::min(i, taps - 1)]);
      to[2 + i] = i < taps ? static_cast<float>(point.taps.weight[i]) : 0.0f;
    }
    to += 4;
  }
  return std::optional<Tensor>(std::move(table));
}

Result<bool> lower(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(y)) return false;
  const Shape from = lowering.shape(x);
  const Shape to = lowering.shape(y);
  const auto attributes = read_resize(node);
  if (!attributes.ok() || from.size() < 3 || from.size() > 4 || from[0] != to[0] || from[1] != to[1])
    return false;
  const ResizeInputs inputs = resize_inputs(node);
  bool known = true;
  const auto given = [&](const std::optional<std::size_t>& i) -> const Tensor* {
    if (!i || !lowering.has_input(node, *i)) return nullptr;
    const Tensor* tensor = lowering.constant(node.inputs[*i]);
    known = known && tensor != nullptr;
    return tensor;
  };
  const ResizeValues values{given(inputs.roi), given(inputs.scales), given(inputs.sizes)};
  if (!known || attributes->how.mode == Resampling::Mode::cubic) return false;
  const auto axes = plan_resize(*attributes, from, values);
  if (!axes.ok() || !(*axes)[0].identity() || !(*axes)[1].identity()) return false;
  const ResampledAxis row = from.size() == 4 ? (*axes)[2] : ResampledAxis{.input = 1, .output = 1};
  const ResampledAxis& column = axes->back();
  if (row.input > 0x1000000 || column.input > 0x1000000) return false;  // beyond exact float32 integers
  DRIFTSCOPE_TRY(auto rows, table_of(attributes->how, row));
  DRIFTSCOPE_TRY(auto columns, table_of(attributes->how, column));
  if (!rows || !columns) return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, channels_last(from)));
  const BufferId out = lowering.write(y, channels_last(to));
  const BufferId rows_at = lowering.keep(*std::move(rows));
  const BufferId columns_at = lowering.keep(*std::move(columns));
  return lowering.emit_elements("resize",
                                {{"CHANNELS", from[1]},
                                 {"TEXELS1", 1},
                                 {"TEXELS2", 1},
                                 {"IN_H", row.input},
                                 {"IN_W", column.input},
                                 {"OUT_H", row.output},
                                 {"OUT_W", column.output},
                                 {"LINEAR", attributes->how.mode == Resampling::Mode::linear ? 1 : 0}},
                                {in, rows_at, columns_at}, out, element_count(to));
}

void add_to(GpuOperatorTable& table) {
  table.add("Resize", lower);
  table.add("Upsample", lower);
}

}  // namespace driftscope::gpu::resize
