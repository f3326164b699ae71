// Resize is linear along each axis: its matrix is what it makes of the identity, and the gradient is the
// transposed matrix along that axis.
#include <algorithm>

#include "core/eval/evaluate.hpp"
#include "core/gradient/rule.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {
namespace gradient_resize {
namespace {

constexpr std::int64_t max_matrix = std::int64_t{1} << 24;  // elements

// [rows of x, columns of y], from resizing the identity along its second axis.
Result<std::vector<double>> matrix_of(const Node& node, std::int64_t from, std::int64_t to, double scale) {
  Node one;
  one.name = node.name;
  one.op_type = node.op_type;
  one.opset = node.opset;
  for (const Attribute& attribute : node.attributes)
    if (attribute.name != "axes" && attribute.name != "keep_aspect_ratio_policy")
      one.attributes.push_back(attribute);
  Evaluated<double> identity;
  identity.dtype = DType::float64;
  identity.shape = {from, from};
  identity.real.assign(static_cast<std::size_t>(from * from), 0.0);
  for (std::int64_t i = 0; i < from; ++i) identity.real[static_cast<std::size_t>(i * from + i)] = 1.0;
  const Evaluated<double> none;
  Evaluated<double> scales;
  scales.dtype = DType::float32;
  scales.shape = {2};
  scales.real = {1.0, scale};
  Evaluated<double> sizes;
  sizes.dtype = DType::int64;
  sizes.shape = {2};
  DRIFTSCOPE_TRY(sizes.tensor, Tensor::from_values<std::int64_t>({2}, Ints{from, to}));
  std::vector<const Evaluated<double>*> inputs = {&identity, &none};
  if (scale > 0.0)
    inputs.push_back(&scales);
  else
    inputs.insert(inputs.end(), {&none, &sizes});
  for (std::size_t i = 0; i < inputs.size(); ++i)
    one.inputs.push_back(inputs[i]->dtype == DType::undefined ? no_value : static_cast<ValueId>(i));
  one.outputs = {static_cast<ValueId>(inputs.size())};
  ThreadPool threads(1);
  DRIFTSCOPE_TRY(const auto outputs, evaluate<double>(one, inputs, threads));
  return is_known(outputs[0]) ? lift_values<double>(outputs[0].tensor) : outputs[0].real;
}

Status resize(NodeGradient& at) {
  if (at.node().opset < 11) return at.unsupported_form("of its form before opset 11");
  DRIFTSCOPE_TRY(const std::string where,
                 string_attribute(at.node(), "coordinate_transformation_mode", "half_pixel"));
  if (where == "tf_crop_and_resize") return at.unsupported_form("of tf_crop_and_resize");
  DRIFTSCOPE_TRY(const SymbolicShape x, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(SymbolicShape sizes, at.sizes(at.output()));
  DRIFTSCOPE_TRY(const Ints axes, ints_attribute(at.node(), "axes", {}));
  std::vector<double> scales(x.size(), 0.0);
  if (at.has_input(2)) {
    DRIFTSCOPE_TRY(const auto given, at.constant(2));
    if (!given) return at.unsupported_form("with scales that depend on data");
    const std::vector<double> values = lift_values<double>(*given);
    for (std::size_t i = 0; i < values.size(); ++i) {
      DRIFTSCOPE_TRY(const std::size_t axis,
                     normalize_axis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], x.size()));
      scales[axis] = values[i];
    }
  }
  std::string gradient = at.dy();
  for (std::size_t axis = x.size(); axis-- > 0;) {
    if (sizes[axis] == x[axis] && (scales[axis] == 1.0 || scales[axis] == 0.0)) continue;
    DRIFTSCOPE_TRY(const std::int64_t from, at.size(at.input(0), axis));
    DRIFTSCOPE_TRY(const std::int64_t to, at.size(at.output(), axis));
    if (from > max_matrix / std::max<std::int64_t>(from, to))
      return at.unsupported_form("of so wide an axis");
    DRIFTSCOPE_TRY(const auto matrix, matrix_of(at.node(), from, to, scales[axis]));
    const std::string name = at.emit().numbers(matrix, {from, to}, at.dtype());
    DRIFTSCOPE_TRY(gradient, at.along_axis(gradient, sizes, axis, name, from));
    sizes[axis] = x[axis];
  }
  at.add(0, gradient);
  return {};
}

}  // namespace
}  // namespace gradient_resize

namespace gradient_rules::resize {

void add_to(GradientRuleTable& table) { table.add("Resize", gradient_resize::resize); }

}  // namespace gradient_rules::resize

}  // namespace driftscope
