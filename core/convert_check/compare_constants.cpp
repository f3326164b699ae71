// What became of a constant: rounded to a narrow type, put on a grid of integers, its axes in another order,
// scaled by channel, or changed in places.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/half.hpp"
#include "core/convert_check/explain.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope::convert {
namespace {

using Numbers = std::vector<double>;

constexpr double rounding_apart =
    1e-6;  // relative to the largest number: composed in another order, no change

double largest(const Numbers& numbers) {
  double max_abs = 0.0;
  for (const double x : numbers) max_abs = std::max(max_abs, std::fabs(x));
  return max_abs;
}

bool equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::optional<ConstantDifference> narrow_type(const Numbers& a, const Numbers& b) {
  struct Type {
    SmallFloat format;
    const char* name;
  };
  for (const Type& type : {Type{float16_format, "float16"}, Type{bfloat16_format, "bfloat16"}}) {
    double furthest = 0.0;
    bool all = true;
    for (std::size_t i = 0; i < a.size() && all; ++i) {
      all = equal(widen(type.format, narrow(type.format, a[i])), b[i]);
      furthest = std::max(furthest, std::fabs(a[i] - b[i]));
    }
    if (all)
      return ConstantDifference{Cause::float16,
                                fmt::format("rounded to {}: every element of B is A's as {}, at most "
                                            "{:.3g} away",
                                            type.name, type.name, furthest)};
  }
  return std::nullopt;
}

/// Elements of index c along an axis.
struct Slices {
  std::int64_t channels = 0;
  std::int64_t inner = 1;
  Slices(const Shape& shape, std::size_t axis) : channels(shape[axis]) {
    for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  }
  [[nodiscard]] std::size_t channel(std::size_t i) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner % channels);
  }
};

/// The step of the grid on which the numbers lie, no more than 255 of them; 0 where there is none.
double step_of(Numbers numbers) {
  std::ranges::sort(numbers);
  const double tiny = largest(numbers) * 1e-6;
  double step = INFINITY;
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] > tiny) step = std::min(step, numbers[i] - numbers[i - 1]);
  if (std::isinf(step) || (numbers.back() - numbers.front()) / step > 255.5) return 0.0;
  for (const double x : numbers)
    if (std::fabs(x / step - std::round(x / step)) > 0.02) return 0.0;
  return step;
}

std::optional<ConstantDifference> on_a_grid(const Numbers& a, const Numbers& b, const Shape& shape) {
  if (b.size() < 8) return std::nullopt;
  const auto within = [](double difference, double step) { return std::fabs(difference) <= 0.51 * step; };
  const double whole = step_of(b);
  bool fits = whole > 0.0;
  double furthest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) furthest = std::max(furthest, std::fabs(a[i] - b[i]));
  for (std::size_t i = 0; i < a.size() && fits; ++i) fits = within(a[i] - b[i], whole);
  if (fits)
    return ConstantDifference{
        Cause::quantized,
        fmt::format("quantized: B's elements are multiples of {:.4g}, each the one nearest to "
                    "A's, at most {:.3g} away",
                    whole, furthest)};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const Slices slices(shape, axis);
    if (slices.channels < 2 || shape.size() < 2) continue;
    std::vector<Numbers> parts(static_cast<std::size_t>(slices.channels));
    for (std::size_t i = 0; i < b.size(); ++i) parts[slices.channel(i)].push_back(b[i]);
    if (parts[0].size() < 4) continue;
    Numbers steps;
    for (const Numbers& part : parts) steps.push_back(step_of(part));
    bool all = std::ranges::all_of(steps, [](double step) { return step > 0.0; });
    for (std::size_t i = 0; i < a.size() && all; ++i) all = within(a[i] - b[i], steps[slices.channel(i)]);
    if (all)
      return ConstantDifference{
          Cause::quantized,
          fmt::format(
              "quantized with a step for each index of axis {} ({:.3g} to {:.3g}): each element is the "
              "multiple nearest to A's, at most {:.3g} away",
              axis, *std::ranges::min_element(steps), *std::ranges::max_element(steps), furthest)};
  }
  return std::nullopt;
}

/// B's axes in another order although the shape is A's, or the window turned by 180°.
std::optional<ConstantDifference> rearranged(const Tensor& a, const Tensor& b) {
  const auto same = [&](const Tensor& moved) {
    const Numbers x = numbers_of(a);
    const Numbers y = numbers_of(moved);
    const double close = rounding_apart * largest(x);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!(std::fabs(x[i] - y[i]) <= close)) return false;
    return true;
  };
  for (const Order& order : orders_between(a.shape(), b.shape())) {
    if (order.empty()) continue;
    const auto moved = restored(b, order, a.shape());
    if (moved.ok() && same(*moved))
      return ConstantDifference{Cause::layout, fmt::format("transposed: B's axes are A's in the order [{}]",
                                                           fmt::join(order, ", "))};
  }
  if (a.rank() < 3 || a.shape() != b.shape()) return std::nullopt;
  std::int64_t window = 1;
  for (std::size_t i = 2; i < a.shape().size(); ++i) window *= a.shape()[i];
  const Numbers x = numbers_of(a);
  const Numbers y = numbers_of(b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t in_window = i % static_cast<std::size_t>(window);
    if (y[i - in_window + static_cast<std::size_t>(window) - 1 - in_window] != x[i]) return std::nullopt;
  }
  return ConstantDifference{
      Cause::layout,
      "reversed: B's window is A's turned by 180° (a true convolution instead of a correlation)"};
}

std::optional<ConstantDifference> scaled(const Numbers& a, const Numbers& b, const Shape& shape) {
  if (shape.size() < 2) return std::nullopt;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const Slices slices(shape, axis);
    Numbers products(static_cast<std::size_t>(slices.channels), 0.0);
    Numbers squares = products;
    for (std::size_t i = 0; i < a.size(); ++i) {
      products[slices.channel(i)] += a[i] * b[i];
      squares[slices.channel(i)] += a[i] * a[i];
    }
    Numbers factors;
    for (std::size_t c = 0; c < products.size(); ++c)
      factors.push_back(squares[c] > 0.0 ? products[c] / squares[c] : 1.0);
    const double close = 1e-5 * largest(b);
    bool all = a.size() > products.size();
    for (std::size_t i = 0; i < a.size() && all; ++i)
      all = std::fabs(b[i] - factors[slices.channel(i)] * a[i]) <= close;
    if (all)
      return ConstantDifference{
          Cause::weights,
          fmt::format("multiplied, by a factor for each index of axis {} ({:.6g} to {:.6g})", axis,
                      *std::ranges::min_element(factors), *std::ranges::max_element(factors))};
  }
  return std::nullopt;
}

ConstantDifference changed(const Numbers& a, const Numbers& b, const Shape& shape) {
  std::size_t different = 0;
  std::size_t worst = 0;
  double furthest = -1.0;
  double squares = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    size += a[i] * a[i];
    if (equal(a[i], b[i])) continue;
    ++different;
    const double apart = std::isfinite(a[i] - b[i]) ? std::fabs(a[i] - b[i]) : INFINITY;
    if (std::isfinite(apart)) squares += apart * apart;
    if (apart > furthest) furthest = apart, worst = i;
  }
  return {Cause::weights,
          fmt::format(
              "{} of {} elements differ, most at [{}]: expected {:.9g}, got {:.9g} (relative to all of them "
              "{:.3g})",
              different, a.size(), fmt::join(coordinates_of(static_cast<std::int64_t>(worst), shape), ", "),
              a[worst], b[worst], size > 0.0 ? std::sqrt(squares / size) : INFINITY)};
}

}  // namespace

std::optional<ConstantDifference> compare_constants(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype() && a.shape() == b.shape() && std::ranges::equal(a.bytes(), b.bytes()))
    return std::nullopt;
  if (!same_kind(a.dtype(), b.dtype()))
    return ConstantDifference{Cause::weights, fmt::format("of another type: expected {}, got {}",
                                                          dtype_name(a.dtype()), dtype_name(b.dtype()))};
  if (a.elements() != b.elements())
    return ConstantDifference{Cause::weights, fmt::format("of another shape: expected {}, got {}",
                                                          shape_text(a.shape()), shape_text(b.shape()))};
  if (a.shape() != b.shape()) {
    if (auto found = rearranged(a, b)) return found;
    if (a.rank() > 1 && b.rank() > 1)
      return ConstantDifference{Cause::layout, fmt::format("of another shape: expected {}, got {}",
                                                           shape_text(a.shape()), shape_text(b.shape()))};
  }
  const Numbers x = numbers_of(a);
  const Numbers y = numbers_of(b);
  double furthest = 0.0;
  bool special = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (equal(x[i], y[i])) continue;
    special = special || !std::isfinite(x[i] - y[i]);
    furthest = std::max(furthest, std::fabs(x[i] - y[i]));
  }
  if (!special && furthest <= (is_floating(a.dtype()) ? rounding_apart * largest(x) : 0.0))
    return std::nullopt;
  if (special || !is_floating(a.dtype())) return changed(x, y, a.shape());
  if (auto found = narrow_type(x, y)) return found;
  if (auto found = rearranged(a, b)) return found;
  if (auto found = on_a_grid(x, y, a.shape())) return found;
  if (auto found = scaled(x, y, a.shape())) return found;
  return changed(x, y, a.shape());
}

}  // namespace driftscope::convert
