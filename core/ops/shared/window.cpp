#include "core/ops/shared/window.hpp"

#include <fmt/format.h>

#include "core/base/checked.hpp"

namespace driftscope {
namespace {

// Products of two attributes then fit in 62 bits.
constexpr std::int64_t max_attribute = std::int64_t{1} << 31;

Status check_list(std::string_view name, const Ints& values, std::size_t expected, std::int64_t min) {
  if (values.size() != expected)
    return bad_input(fmt::format("attribute {}: expected {} values, got {}", name, expected, values.size()));
  for (const std::int64_t value : values)
    if (value < min || value > max_attribute)
      return bad_input(fmt::format("attribute {}: expected values from {} to {}, got [{}]", name, min,
                                   max_attribute, fmt::join(values, ",")));
  return {};
}

Result<AutoPad> read_auto_pad(const Node& node) {
  DRIFTSCOPE_TRY(const std::string text, string_attribute(node, "auto_pad", "NOTSET"));
  if (text == "NOTSET" || text.empty()) return AutoPad::notset;
  if (text == "SAME_UPPER") return AutoPad::same_upper;
  if (text == "SAME_LOWER") return AutoPad::same_lower;
  if (text == "VALID") return AutoPad::valid;
  return bad_input(
      fmt::format("attribute auto_pad: expected NOTSET, SAME_UPPER, SAME_LOWER or VALID, got '{}'", text));
}

}  // namespace

Result<WindowAttributes> read_window(const Node& node, Ints kernel) {
  const std::size_t rank = kernel.size();
  WindowAttributes window;
  window.kernel = std::move(kernel);
  DRIFTSCOPE_TRY(window.strides, ints_attribute(node, "strides", Ints(rank, 1)));
  DRIFTSCOPE_TRY(window.dilations, ints_attribute(node, "dilations", Ints(rank, 1)));
  DRIFTSCOPE_TRY(window.pads, ints_attribute(node, "pads", Ints(2 * rank, 0)));
  DRIFTSCOPE_TRY(window.ceil_mode, flag_attribute(node, "ceil_mode", false));
  DRIFTSCOPE_TRY(window.auto_pad, read_auto_pad(node));
  DRIFTSCOPE_CHECK(check_list("kernel_shape", window.kernel, rank, 1));
  DRIFTSCOPE_CHECK(check_list("strides", window.strides, rank, 1));
  DRIFTSCOPE_CHECK(check_list("dilations", window.dilations, rank, 1));
  // Exporters write pads of zeros alongside auto_pad, which then takes precedence.
  if (window.auto_pad != AutoPad::notset) window.pads.assign(2 * rank, 0);
  DRIFTSCOPE_CHECK(check_list("pads", window.pads, 2 * rank, 0));
  return window;
}

Result<WindowAxis> place_window(const WindowAttributes& attributes, std::size_t axis, std::int64_t input) {
  WindowAxis placed;
  placed.input = input;
  placed.kernel = attributes.kernel[axis];
  placed.stride = attributes.strides[axis];
  placed.dilation = attributes.dilations[axis];
  placed.pad_begin = attributes.pads[axis];
  placed.pad_end = attributes.pads[axis + attributes.kernel.size()];
  const std::int64_t extent = (placed.kernel - 1) * placed.dilation + 1;

  if (attributes.auto_pad == AutoPad::same_upper || attributes.auto_pad == AutoPad::same_lower) {
    placed.output = input / placed.stride + (input % placed.stride != 0 ? 1 : 0);
    if (placed.output == 0) return placed;
    const std::int64_t total =
        std::max<std::int64_t>(0, (placed.output - 1) * placed.stride - input + extent);
    const std::int64_t smaller = total / 2;
    const bool upper = attributes.auto_pad == AutoPad::same_upper;
    placed.pad_begin = upper ? smaller : total - smaller;
    placed.pad_end = total - placed.pad_begin;
    return placed;
  }

  const auto padded = checked_add(input, placed.pad_begin + placed.pad_end);
  if (!padded || *padded < extent)
    return bad_input(
        fmt::format("spatial axis {}: a kernel of {} with dilation {} covers {}, more than the input of {} "
                    "with pads {} and {}",
                    axis, placed.kernel, placed.dilation, extent, input, placed.pad_begin, placed.pad_end));
  const std::int64_t room = *padded - extent;
  placed.output = room / placed.stride + 1;
  // VALID with ceil_mode rounds up too: the formula in the text of AveragePool-19 does not, but
  // ONNX's shape inference and ONNX Runtime do, and the shapes in files come from them.
  if (attributes.ceil_mode && room % placed.stride != 0) {
    // A window that would start in the padding after the input is left out. Opset 19 requires it;
    // ONNX Runtime and PyTorch do it for all, and such a window would see no data at all.
    if (placed.output * placed.stride < input + placed.pad_begin) ++placed.output;
  }
  return placed;
}

Result<std::vector<WindowAxis>> place_windows(const WindowAttributes& attributes,
                                              std::span<const std::int64_t> spatial) {
  std::vector<WindowAxis> placed;
  for (std::size_t axis = 0; axis < spatial.size(); ++axis) {
    DRIFTSCOPE_TRY(const WindowAxis window, place_window(attributes, axis, spatial[axis]));
    placed.push_back(window);
  }
  return placed;
}

Result<Dimension> window_output(const WindowAttributes& attributes, std::size_t axis,
                                const Dimension& input) {
  if (input.known()) {
    DRIFTSCOPE_TRY(const WindowAxis placed, place_window(attributes, axis, input.size));
    return Dimension{placed.output, ""};
  }
  const std::int64_t margin = (attributes.kernel[axis] - 1) * attributes.dilations[axis];
  const std::int64_t pads = attributes.pads[axis] + attributes.pads[axis + attributes.kernel.size()];
  const bool same = attributes.auto_pad == AutoPad::same_upper ||
                    attributes.auto_pad == AutoPad::same_lower || pads == margin;
  return attributes.strides[axis] == 1 && same ? input : Dimension{};
}

}  // namespace driftscope
