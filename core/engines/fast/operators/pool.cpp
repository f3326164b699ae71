// MaxPool, AveragePool, GlobalMaxPool in one and two dimensions on NHWC; the largest of bytes as well.
#include <algorithm>
#include <limits>
#include <utility>

#include "core/engines/fast/lowering.hpp"
#include "core/ops/shared/pool.hpp"

namespace driftscope::fast::pool {

// XNNPACK keeps a pointer for each.
constexpr std::int64_t max_taps = 1 << 20;

struct Windows {
  WindowAxis height{.input = 1, .kernel = 1, .output = 1};
  WindowAxis width;
  [[nodiscard]] std::int64_t taps() const { return height.kernel * width.kernel; }
};

// How far the last window extends beyond the input: with ceil_mode it may differ from the pads.
std::int64_t reach(const WindowAxis& axis) {
  return std::max<std::int64_t>(0, (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1 -
                                       axis.input - axis.pad_begin);
}

bool has_padding(const WindowAxis& axis) { return axis.pad_begin > 0 || reach(axis) > 0; }

bool has_elements(const Lowering& lowering, ValueId id) {
  const auto shape = lowering.value(id).static_shape();
  return shape && element_count(*shape) > 0;
}

// Nothing if XNNPACK has no such window: three dimensions, a single tap, a window without data.
std::optional<Windows> windows_of(const Lowering& lowering, const Node& node) {
  if (!has_elements(lowering, node.inputs[0]) || !has_elements(lowering, node.outputs[0]))
    return std::nullopt;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) return std::nullopt;  // Indices
  const Shape x = lowering.shape(node.inputs[0]);
  if (x.size() < 3 || x.size() > 4) return std::nullopt;
  const auto plan = plan_pool(node, x);
  if (!plan.ok()) return std::nullopt;
  Windows windows;
  windows.width = plan->axes.back();
  if (x.size() == 4) windows.height = plan->axes.front();
  for (const WindowAxis& axis : {windows.height, windows.width}) {
    if (axis.kernel > max_taps) return std::nullopt;
    const std::int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
    if (axis.pad_begin >= extent || reach(axis) >= extent) return std::nullopt;
  }
  if (windows.taps() == 1 || windows.taps() > max_taps) return std::nullopt;
  return windows;
}

std::uint32_t u32(std::int64_t size) { return static_cast<std::uint32_t>(size); }
std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

struct Made {
  XnnOperator op;
  pthreadpool_t pool = nullptr;
  std::size_t workspace_bytes = 0;
};

// Emits it between the node's input and its output; false where XNNPACK declined.
template <class Setup>
Result<bool> place(Lowering& lowering, const Node& node, Made made, Setup setup) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, channels_last(lowering.shape(x))));
  const BufferId out = lowering.write(y, channels_last(lowering.shape(y)));
  const BufferId workspace = lowering.scratch(made.workspace_bytes);
  lowering.emit(
      std::move(made.op), made.pool, {in}, {out, workspace}, [=](xnn_operator_t op, const Memory& memory) {
        return setup(op, memory.address(workspace), memory.at<const float>(in), memory.at<float>(out));
      });
  return true;
}

/// XNNPACK's operator for elements of type T.
template <class T>
struct MaxPooling;
template <>
struct MaxPooling<float> {
  static constexpr auto create = xnn_create_max_pooling2d_nhwc_f32;
  static constexpr auto reshape = xnn_reshape_max_pooling2d_nhwc_f32;
  static constexpr auto setup = xnn_setup_max_pooling2d_nhwc_f32;
};
template <>
struct MaxPooling<std::int8_t> {
  static constexpr auto create = xnn_create_max_pooling2d_nhwc_s8;
  static constexpr auto reshape = xnn_reshape_max_pooling2d_nhwc_s8;
  static constexpr auto setup = xnn_setup_max_pooling2d_nhwc_s8;
};
template <>
struct MaxPooling<std::uint8_t> {
  static constexpr auto create = xnn_create_max_pooling2d_nhwc_u8;
  static constexpr auto reshape = xnn_reshape_max_pooling2d_nhwc_u8;
  static constexpr auto setup = xnn_setup_max_pooling2d_nhwc_u8;
};

/// Every value passes.
template <class T>
constexpr std::pair<T, T> no_limits() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) return {-Limits::infinity(), Limits::infinity()};
  return {Limits::lowest(), Limits::max()};
}

/// Where the pads of a dilated window are, XNNPACK reads the window's first pixel behind them instead, at
/// stride · o − pad mod dilation: of windows that lie in the pads that is beyond the input.
bool reads_within(const WindowAxis& axis) {
  if (!has_padding(axis)) return true;
  const std::int64_t before = axis.pad_begin % axis.dilation;
  if (axis.pad_begin / axis.dilation + (before > 0 ? 1 : 0) >= axis.kernel)
    return false;  // not of the window
  for (std::int64_t o = 0; o < axis.output; ++o) {
    const std::int64_t at = o * axis.stride;
    if ((at < before ? at + axis.dilation : at) - before >= axis.input) return false;
  }
  return true;
}

/// What XNNPACK's pointers of dilated windows are right for. Windows of a row whose columns are not dilated
/// share them: a later window then writes its own pixel over that of an earlier one in the pads.
bool has_right_pointers(const Windows& windows) {
  const WindowAxis& h = windows.height;
  const WindowAxis& v = windows.width;
  if (h.dilation == 1 && v.dilation == 1) return true;
  const bool shared = v.dilation == 1 && v.stride < v.kernel && has_padding(v);
  return !shared && reads_within(h) && reads_within(v);
}

template <class T>
Result<bool> place_max_of(Lowering& lowering, const Node& node, const Windows& windows) {
  if (!has_right_pointers(windows)) return false;
  const WindowAxis& h = windows.height;
  const WindowAxis& v = windows.width;
  const auto [min, max] = no_limits<T>();
  xnn_operator_t raw = nullptr;
  if (MaxPooling<T>::create(u32(h.pad_begin), u32(reach(v)), u32(reach(h)), u32(v.pad_begin), u32(h.kernel),
                            u32(v.kernel), u32(h.stride), u32(v.stride), u32(h.dilation), u32(v.dilation),
                            min, max, 0, &raw) != xnn_status_success)
    return false;
  XnnOperator op(raw);
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  const Shape shape = lowering.shape(x);
  const pthreadpool_t pool = lowering.pool_for(element_count(lowering.shape(y)) * windows.taps());
  std::size_t height = 0;
  std::size_t width = 0;
  if (MaxPooling<T>::reshape(raw, size(shape[0]), size(h.input), size(v.input), size(shape[1]),
                             size(shape[1]), size(shape[1]), &height, &width, pool) != xnn_status_success ||
      height != size(h.output) || width != size(v.output))
    return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, channels_last(shape)));
  const BufferId out = lowering.write(y, channels_last(lowering.shape(y)));
  lowering.emit(std::move(op), pool, {in}, {out}, [=](xnn_operator_t it, const Memory& memory) {
    return MaxPooling<T>::setup(it, memory.at<const T>(in), memory.at<T>(out));
  });
  return true;
}

Result<bool> place_max(Lowering& lowering, const Node& node, const Windows& windows) {
  switch (lowering.value(node.inputs[0]).dtype) {
    case DType::float32: return place_max_of<float>(lowering, node, windows);
    case DType::int8: return place_max_of<std::int8_t>(lowering, node, windows);
    case DType::uint8: return place_max_of<std::uint8_t>(lowering, node, windows);
    default: return false;
  }
}

/// XNNPACK's depthwise kernels have so many taps; of others the rest reads elements beyond the window and
/// multiplies them by 0, which makes NaN of infinities.
bool has_kernel_of(std::int64_t taps) { return taps == 3 || taps == 4 || taps == 9 || taps == 25; }

// Padding that counts: a depthwise convolution with equal weights.
Result<bool> place_padded_average(Lowering& lowering, const Node& node, const Windows& windows) {
  const WindowAxis& h = windows.height;
  const WindowAxis& v = windows.width;
  const Shape x = lowering.shape(node.inputs[0]);
  const std::vector<float> weights(size(windows.taps() * x[1]), 1.0f / static_cast<float>(windows.taps()));
  const Clamp all;
  xnn_operator_t raw = nullptr;
  if (xnn_create_convolution2d_nhwc_f32(u32(h.pad_begin), u32(reach(v)), u32(reach(h)), u32(v.pad_begin),
                                        u32(h.kernel), u32(v.kernel), u32(h.stride), u32(v.stride), 1, 1,
                                        u32(x[1]), 1, 1, size(x[1]), size(x[1]), weights.data(), nullptr,
                                        all.min, all.max, 0, nullptr, nullptr, &raw) != xnn_status_success)
    return false;
  Made made{.op = XnnOperator(raw)};
  made.pool = lowering.pool_for(element_count(lowering.shape(node.outputs[0])) * windows.taps());
  std::size_t alignment = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  if (xnn_reshape_convolution2d_nhwc_f32(raw, size(x[0]), size(h.input), size(v.input), &made.workspace_bytes,
                                         &alignment, &height, &width, made.pool) != xnn_status_success ||
      height != size(h.output) || width != size(v.output))
    return false;
  return place(lowering, node, std::move(made),
               [](xnn_operator_t op, void* workspace, const float* in, float* out) {
                 return xnn_setup_convolution2d_nhwc_f32(op, workspace, in, out);
               });
}

Result<bool> place_average(Lowering& lowering, const Node& node, const Windows& windows) {
  const WindowAxis& h = windows.height;
  const WindowAxis& v = windows.width;
  const Clamp all;
  xnn_operator_t raw = nullptr;
  if (xnn_create_average_pooling2d_nhwc_f32(u32(h.pad_begin), u32(reach(v)), u32(reach(h)), u32(v.pad_begin),
                                            u32(h.kernel), u32(v.kernel), u32(h.stride), u32(v.stride),
                                            all.min, all.max, 0, &raw) != xnn_status_success)
    return false;
  Made made{.op = XnnOperator(raw)};
  const Shape x = lowering.shape(node.inputs[0]);
  made.pool = lowering.pool_for(element_count(lowering.shape(node.outputs[0])) * windows.taps());
  std::size_t alignment = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  if (xnn_reshape_average_pooling2d_nhwc_f32(raw, size(x[0]), size(h.input), size(v.input), size(x[1]),
                                             size(x[1]), size(x[1]), &made.workspace_bytes, &alignment,
                                             &height, &width, made.pool) != xnn_status_success ||
      height != size(h.output) || width != size(v.output))
    return false;
  return place(lowering, node, std::move(made),
               [](xnn_operator_t op, void* workspace, const float* in, float* out) {
                 return xnn_setup_average_pooling2d_nhwc_f32(op, workspace, in, out);
               });
}

Result<bool> lower_max(Lowering& lowering, const Node& node) {
  const auto windows = windows_of(lowering, node);
  if (!windows) return false;
  return place_max(lowering, node, *windows);
}

Result<bool> lower_average(Lowering& lowering, const Node& node) {
  const auto windows = windows_of(lowering, node);
  const auto include_pad = flag_attribute(node, "count_include_pad", false);
  if (!lowering.is_float(node.inputs[0]) || !windows || !include_pad.ok() || windows->height.dilation != 1 ||
      windows->width.dilation != 1)
    return false;
  const bool padded = has_padding(windows->height) || has_padding(windows->width);
  if (!padded || !*include_pad) return place_average(lowering, node, *windows);
  if (!has_kernel_of(windows->taps())) return false;
  // The part that ceil_mode adds beyond the pads does not count: then the divisors differ.
  if (reach(windows->height) > windows->height.pad_end || reach(windows->width) > windows->width.pad_end)
    return false;
  return place_padded_average(lowering, node, *windows);
}

Result<bool> lower_global_max(Lowering& lowering, const Node& node) {
  if (!has_elements(lowering, node.inputs[0]) || !has_elements(lowering, node.outputs[0])) return false;
  const Shape shape = lowering.shape(node.inputs[0]);
  if (shape.size() < 3) return false;
  const std::int64_t spatial = blocks_of(shape, channels_last(shape)).spatial;
  if (spatial < 2) return false;
  Windows windows;
  windows.width = {.input = spatial, .kernel = spatial, .output = 1};
  return place_max(lowering, node, windows);
}

void add_to(FastOperatorTable& table) {
  table.add("MaxPool", lower_max);
  table.add("AveragePool", lower_average);
  table.add("GlobalMaxPool", lower_global_max);
}

}  // namespace driftscope::fast::pool
