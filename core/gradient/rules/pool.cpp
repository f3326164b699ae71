// Pools. MaxPool gives the gradient to the first maximum of each window in row-major order, as PyTorch:
// windows
// are laid out along a last axis, where ArgMax finds it. AveragePool spreads it over the window.
#include <algorithm>
#include <limits>

#include "core/gradient/window_gradient.hpp"

namespace driftscope {
namespace gradient_pool {
namespace {

// The lowest number that pads: infinity times 0 would not be a number.
double lowest(DType dtype) {
  if (dtype == DType::float64) return std::numeric_limits<double>::lowest();
  if (dtype == DType::float16) return -65504.0;
  return static_cast<double>(std::numeric_limits<float>::lowest());
}

Result<Ints> pool_kernel(NodeGradient& at) {
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const Ints kernel, ints_attribute(at.node(), "kernel_shape", {}));
  if (kernel.size() + 2 != sizes.size()) return at.unsupported_form("of a kernel_shape of another rank");
  return kernel;
}

// Windows that touch, or a single one: reshapes alone lay them out.
bool tiles(const std::vector<WindowAxis>& axes) {
  for (const WindowAxis& axis : axes) {
    const bool single = axis.output == 1;
    if (axis.pad_begin != 0 || axis.dilation != 1 || (!single && axis.stride != axis.kernel)) return false;
    if (axis.output * axis.kernel > axis.input) return false;
  }
  return true;
}

std::int64_t taps(const std::vector<WindowAxis>& axes) {
  std::int64_t all = 1;
  for (const WindowAxis& axis : axes) all *= axis.kernel;
  return all;
}

// 1 at the first maximum along the last axis of size `count`, times dy.
std::string to_first_maximum(NodeGradient& at, const std::string& windows, const std::string& dy,
                             std::int64_t count) {
  GradientEmitter& emit = at.emit();
  const std::string place =
      emit.node("ArgMax", {windows}, {{"axis", std::int64_t{-1}}, {"keepdims", std::int64_t{0}}});
  return emit.mul(emit.one_hot(place, count, at.dtype()), emit.unsqueeze(dy, {-1}));
}

Status max_of_tiles(NodeGradient& at, const SymbolicShape& sizes, const std::vector<WindowAxis>& axes) {
  GradientEmitter& emit = at.emit();
  const std::size_t n = axes.size();
  Ints starts(n, 0), stops, spatial, parts = {sizes[0].size, sizes[1].size}, order = {0, 1};
  Ints laid = parts, apart = parts, cropped = parts, back = {0, 1}, behind(2 * (n + 2), 0);
  bool crop = false;
  for (std::size_t i = 0; i < n; ++i) {
    spatial.push_back(static_cast<std::int64_t>(i) + 2);
    stops.push_back(axes[i].output * axes[i].kernel);
    crop = crop || stops[i] != axes[i].input;
    behind[n + 4 + i] = axes[i].input - stops[i];
    parts.insert(parts.end(), {axes[i].output, axes[i].kernel});
    order.push_back(static_cast<std::int64_t>(2 + 2 * i));
    laid.push_back(axes[i].output);
    apart.push_back(axes[i].output);
    cropped.push_back(stops[i]);
    back.insert(back.end(), {static_cast<std::int64_t>(2 + i), static_cast<std::int64_t>(2 + n + i)});
  }
  for (std::size_t i = 0; i < n; ++i) {
    order.push_back(static_cast<std::int64_t>(3 + 2 * i));
    apart.push_back(axes[i].kernel);
  }
  laid.push_back(taps(axes));
  DRIFTSCOPE_TRY(parts, at.reshape_sizes(parts));
  DRIFTSCOPE_TRY(laid, at.reshape_sizes(laid));
  const std::string x = crop ? emit.slice(at.x(0), starts, stops, spatial) : at.x(0);
  const std::string windows = emit.reshape(emit.transpose(emit.reshape(x, parts), order), laid);
  const std::string gradient = to_first_maximum(at, windows, at.dy(), taps(axes));
  const std::string placed = emit.reshape(emit.transpose(emit.reshape(gradient, apart), back), cropped);
  at.add(0, emit.pad(placed, behind, 0.0, at.dtype()));
  return {};
}

// Overlapping windows: a slice of the padded input for each tap, and back with a ConvTranspose that has one
// weight of 1 a tap.
Status max_of_windows(NodeGradient& at, const SymbolicShape& sizes, const std::vector<WindowAxis>& axes) {
  GradientEmitter& emit = at.emit();
  const std::size_t n = axes.size();
  const std::int64_t count = taps(axes);
  DRIFTSCOPE_TRY(const std::int64_t channels, at.size(at.input(0), 1));
  if (count > 1024) return at.unsupported_form("of overlapping windows of more than 1024 elements");
  Ints pads(2 * (n + 2), 0), spatial, strides, merged = {sizes[0].size, channels * count};
  for (std::size_t i = 0; i < n; ++i) {
    pads[2 + i] = axes[i].pad_begin;
    pads[n + 4 + i] =
        std::max<std::int64_t>(0, axes[i].at(axes[i].output - 1, axes[i].kernel - 1) + 1 - axes[i].input);
    spatial.push_back(static_cast<std::int64_t>(i) + 2);
    strides.push_back(axes[i].stride);
    merged.push_back(axes[i].output);
  }
  const std::string padded = emit.pad(at.x(0), pads, lowest(at.dtype()), at.dtype());
  std::vector<std::string> slices;
  std::vector<double> weights(static_cast<std::size_t>(count * count), 0.0);
  for (std::int64_t tap = 0; tap < count; ++tap) {
    Ints starts(n), stops(n);
    std::int64_t rest = tap;
    for (std::size_t i = n; i-- > 0;) {
      starts[i] = rest % axes[i].kernel * axes[i].dilation;
      rest /= axes[i].kernel;
      stops[i] = starts[i] + (axes[i].output - 1) * axes[i].stride + 1;
    }
    slices.push_back(emit.unsqueeze(emit.slice(padded, starts, stops, spatial, strides), {-1}));
    weights[static_cast<std::size_t>(tap * count + tap)] = 1.0;
  }
  const std::string gradient =
      to_first_maximum(at, emit.concat(slices, static_cast<std::int64_t>(n) + 2), at.dy(), count);
  // [N, C, spatial…, taps] as [N, C·taps, spatial…], a group a channel.
  Ints order = {0, 1, static_cast<std::int64_t>(n) + 2};
  order.insert(order.end(), spatial.begin(), spatial.end());
  DRIFTSCOPE_TRY(merged, at.reshape_sizes(merged));
  const std::string grouped = emit.reshape(emit.transpose(gradient, order), merged);
  std::vector<double> all;
  for (std::int64_t c = 0; c < channels; ++c) all.insert(all.end(), weights.begin(), weights.end());
  Shape shape = {channels * count, 1};
  for (const WindowAxis& axis : axes) shape.push_back(axis.kernel);
  at.add(0, scatter_windows(at, grouped, emit.numbers(all, shape, at.dtype()), axes, channels));
  return {};
}

Status max_pool(NodeGradient& at) {
  DRIFTSCOPE_TRY(const Ints kernel, pool_kernel(at));
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const auto axes, window_axes(at, kernel));
  return tiles(axes) ? max_of_tiles(at, sizes, axes) : max_of_windows(at, sizes, axes);
}

Status global_max_pool(NodeGradient& at) {
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  std::vector<WindowAxis> axes;
  for (std::size_t i = 2; i < sizes.size(); ++i) {
    DRIFTSCOPE_TRY(const std::int64_t size, at.size(at.input(0), i));
    axes.push_back({.input = size, .kernel = size, .output = 1});
  }
  return max_of_tiles(at, sizes, axes);
}

Status average_pool(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const Ints kernel, pool_kernel(at));
  DRIFTSCOPE_TRY(const auto axes, window_axes(at, kernel));
  DRIFTSCOPE_TRY(const std::int64_t channels, at.size(at.input(0), 1));
  DRIFTSCOPE_TRY(const bool with_pads, flag_attribute(at.node(), "count_include_pad", false));
  // How many elements each window averages.
  Shape shape = {1, 1};
  std::vector<double> counts = {1.0};
  for (const WindowAxis& axis : axes) {
    std::vector<double> next;
    for (const double count : counts)
      for (std::int64_t o = 0; o < axis.output; ++o) {
        // Pads count, but not what ceil_mode adds behind them.
        std::int64_t inside = 0;
        for (std::int64_t k = 0; k < axis.kernel; ++k) {
          const std::int64_t place = axis.at(o, k);
          if (with_pads ? place < axis.input + axis.pad_end : place >= 0 && place < axis.input) ++inside;
        }
        next.push_back(count * static_cast<double>(inside));
      }
    counts = std::move(next);
    shape.push_back(axis.output);
  }
  const bool same = std::ranges::count(counts, counts[0]) == std::ssize(counts);
  const std::string divisor =
      same ? emit.scalar(counts[0], at.dtype()) : emit.numbers(counts, shape, at.dtype());
  Shape ones = {channels, 1};
  ones.insert(ones.end(), kernel.begin(), kernel.end());
  const std::vector<double> weights(static_cast<std::size_t>(element_count(ones)), 1.0);
  at.add(0, scatter_windows(at, emit.div(at.dy(), divisor), emit.numbers(weights, ones, at.dtype()), axes,
                            channels));
  return {};
}

Status global_average_pool(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  double count = 1.0;
  for (std::size_t i = 2; i < sizes.size(); ++i) {
    DRIFTSCOPE_TRY(const std::int64_t size, at.size(at.input(0), i));
    count *= static_cast<double>(size);
  }
  const std::string share = emit.div(at.dy(), emit.scalar(count, at.dtype()));
  at.add(0, emit.node("Expand", {share, at.shape_of_input(0)}));
  return {};
}

}  // namespace
}  // namespace gradient_pool

namespace gradient_rules::pool {

void add_to(GradientRuleTable& table) {
  table.add("MaxPool", gradient_pool::max_pool);
  table.add("GlobalMaxPool", gradient_pool::global_max_pool);
  table.add("AveragePool", gradient_pool::average_pool);
  table.add("GlobalAveragePool", gradient_pool::global_average_pool);
}

}  // namespace gradient_rules::pool

}  // namespace driftscope
