#include "core/draw/distributions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/float_bits.hpp"
#include "core/base/format.hpp"
#include "core/draw/heat_map.hpp"
#include "core/draw/tensor_slice.hpp"

namespace driftscope {
namespace {

std::size_t ulp_bin(std::uint64_t distance) {
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(distance)),
                               UlpHistogram::bin_count - 1);
}

// binary16 and bfloat16: the bits without the sign are ordered like the numbers.
std::int64_t ordered_half(std::uint16_t bits) {
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7fffu);
  return (bits >> 15) != 0 ? -magnitude : magnitude;
}

template <class T, class Distance>
void count_distances(UlpHistogram& histogram, const Tensor& left, const Tensor& right,
                     const Distance& distance) {
  const auto a = left.values<T>();
  const auto b = right.values<T>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::int64_t apart = distance(a[i], b[i]);
    if (apart < 0) {
      ++histogram.not_finite;
    } else {
      const std::size_t bin = ulp_bin(static_cast<std::uint64_t>(apart));
      ++histogram.bins[bin];
      histogram.last = std::max(histogram.last, bin);
    }
  }
}

template <class T>
std::int64_t float_distance(T a, T b) {
  const bool both_nan = std::isnan(a) && std::isnan(b);
  if (both_nan || a == b) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return -1;
  // Between doubles of different sign the distance may exceed 63 bits.
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(ordered_bits(a), ordered_bits(b), &difference)) return INT64_MAX;
  return difference < 0 ? -difference : difference;
}

std::string count_text(std::int64_t count) {
  if (count < 10'000) return fmt::format("{}", count);
  if (count < 10'000'000) return fmt::format("{:.4g} k", static_cast<double>(count) / 1e3);
  return fmt::format("{:.4g} M", static_cast<double>(count) / 1e6);
}

}  // namespace

UlpHistogram ulp_histogram(const Tensor& left, const Tensor& right) {
  UlpHistogram histogram;
  if (left.dtype() != right.dtype() || left.shape() != right.shape()) return histogram;
  histogram.elements = left.elements();
  const bool floating = visit_floating(left.dtype(), [&]<class E>() {
    using Stored = typename E::Stored;
    if constexpr (std::is_floating_point_v<Stored>) {
      count_distances<Stored>(histogram, left, right, float_distance<Stored>);
    } else {
      constexpr std::uint16_t infinity = E::infinity_bits();
      count_distances<Stored>(histogram, left, right, [](Stored a, Stored b) {
        const int x = a & 0x7fff;
        const int y = b & 0x7fff;
        if (a == b || (x > infinity && y > infinity)) return std::int64_t{0};
        if (x >= infinity || y >= infinity) return std::int64_t{-1};
        return std::abs(ordered_half(a) - ordered_half(b));
      });
    }
  });
  if (floating) return histogram;
  const auto a = element_values(left);
  const auto b = element_values(right);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t bin = ulp_bin(static_cast<std::uint64_t>(std::min(std::abs(a[i] - b[i]), 1e18)));
    ++histogram.bins[bin];
    histogram.last = std::max(histogram.last, bin);
  }
  if (a.empty()) histogram.elements = 0;
  return histogram;
}

std::string ulp_bin_text(std::size_t bin) {
  if (bin < 2) return std::to_string(bin);
  const std::uint64_t low = std::uint64_t{1} << (bin - 1);
  if (bin + 1 >= UlpHistogram::bin_count) return "2^30…";
  if (bin > 10) return fmt::format("2^{}…", bin - 1);
  return fmt::format("{}–{}", low, 2 * low - 1);
}

void paint_ulp_histogram(Painter& painter, Box box, const UlpHistogram& histogram, const Theme& theme) {
  struct Row {
    std::string label;
    std::int64_t count = 0;
    Colour colour;
  };
  const float line = painter.line_height(true);
  // If the rows do not fit, several bins beyond 0 and 1 are merged.
  const auto fit = static_cast<std::size_t>(std::max(3.0f, box.height() / (line * 0.92f)));
  const std::size_t used = histogram.last + 1;
  const std::size_t beyond_rows = histogram.not_finite > 0 ? 1 : 0;
  const std::size_t group = used + beyond_rows <= fit ? 1 : (used + fit - 3) / (fit - 2);
  std::vector<Row> list;
  for (std::size_t bin = 0; bin < used;) {
    const std::size_t end = bin < 2 ? bin + 1 : std::min(used, bin + group);
    Row row{end - bin > 1 ? fmt::format("2^{}…", bin - 1) : ulp_bin_text(bin), 0,
            bin == 0 ? theme.verdict(Verdict::identical) : theme.accent};
    for (; bin < end; ++bin) row.count += histogram.bins[bin];
    list.push_back(std::move(row));
  }
  if (beyond_rows > 0) list.push_back({"NaN, inf", histogram.not_finite, theme.verdict(Verdict::fault)});
  const std::size_t rows = list.size();
  const float step = std::min(box.height() / static_cast<float>(rows), line * 1.5f);
  const float label = std::max(painter.text_width("512–1023 ", true) + 6.0f, 0.16f * box.width());
  const float numbers = painter.text_width("0000.0 k ", true);
  std::int64_t largest = 0;
  for (const Row& row : list) largest = std::max(largest, row.count);
  // Counts span decades: the bars are logarithmic, the numbers beside them are exact.
  const double scale = largest > 0 ? std::log1p(static_cast<double>(largest)) : 1.0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int64_t count = list[row].count;
    const float y = box.top + (static_cast<float>(row) + 0.5f) * step;
    const auto share = static_cast<float>(std::log1p(static_cast<double>(count)) / scale);
    const float left = box.left + label;
    const float width = std::max(0.0f, box.right - numbers - left);
    painter.text({left - 6.0f, y}, list[row].label, theme.dim, Anchor::end, true);
    if (count > 0)
      painter.fill({left, y - step * 0.36f, left + std::max(1.5f, share * width), y + step * 0.36f},
                   list[row].colour, 1.5f);
    painter.text({left + share * width + 6.0f, y}, count_text(count), count > 0 ? theme.ink : theme.dim,
                 Anchor::start, true);
  }
}

Scatter scatter_of(std::span<const double> left, std::span<const double> right, std::int64_t side) {
  Scatter scatter;
  const std::size_t count = std::min(left.size(), right.size());
  const ValueRange range = joined(range_of(left.first(count)), range_of(right.first(count)));
  scatter.low = range.low;
  scatter.high = range.high > range.low ? range.high : range.low + 1.0;
  if (count == 0 || side <= 0) return scatter;
  scatter.side = side;
  scatter.bins.assign(static_cast<std::size_t>(side * side), 0);
  // Halved first: the range of doubles may exceed the largest double.
  const double half = scatter.high / 2.0 - scatter.low / 2.0;
  const auto bin = [&](double value) {
    const double t = (value / 2.0 - scatter.low / 2.0) / half;
    return std::clamp(static_cast<std::int64_t>(t * static_cast<double>(side)), std::int64_t{0}, side - 1);
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(left[i]) || !std::isfinite(right[i])) {
      ++scatter.left_out;
      continue;
    }
    auto& cell = scatter.bins[static_cast<std::size_t>((side - 1 - bin(right[i])) * side + bin(left[i]))];
    scatter.largest = std::max(scatter.largest, ++cell);
  }
  return scatter;
}

void paint_scatter(Painter& painter, Box box, const Scatter& scatter, const std::string& left_name,
                   const std::string& right_name, const Theme& theme) {
  const float line = painter.line_height(true);
  const float size = std::max(10.0f, std::min(box.width() - line * 3.4f, box.height() - line * 2.2f));
  const Box area{box.left + line * 3.4f, box.top + 2.0f, box.left + line * 3.4f + size,
                 box.top + 2.0f + size};
  painter.frame(area, theme.line, 1.0f);
  if (scatter.side > 0) {
    painter.line({area.left, area.bottom}, {area.right, area.top}, theme.line, 1.0f);
    const float cell = size / static_cast<float>(scatter.side);
    const double scale = std::log1p(static_cast<double>(scatter.largest));
    for (std::int64_t y = 0; y < scatter.side; ++y)
      for (std::int64_t x = 0; x < scatter.side; ++x) {
        const std::int64_t count = scatter.bins[static_cast<std::size_t>(y * scatter.side + x)];
        if (count == 0) continue;
        const auto share = static_cast<float>(std::log1p(static_cast<double>(count)) / scale);
        const float left = area.left + static_cast<float>(x) * cell;
        const float top = area.top + static_cast<float>(y) * cell;
        painter.fill({left, top, left + std::max(cell, 1.5f), top + std::max(cell, 1.5f)},
                     mix(mix(theme.panel, theme.accent, 0.35f), theme.accent, share));
      }
  }
  const std::string low = format_number(scatter.low);
  const std::string high = format_number(scatter.high);
  painter.text({area.left - 5.0f, area.bottom - line / 2.0f}, low, theme.dim, Anchor::end, true);
  painter.text({area.left - 5.0f, area.top + line / 2.0f}, high, theme.dim, Anchor::end, true);
  painter.text({area.left, area.bottom + line * 0.7f}, low, theme.dim, Anchor::start, true);
  painter.text({area.right, area.bottom + line * 0.7f}, high, theme.dim, Anchor::end, true);
  // The labels of the axes are placed beside the square if there is room.
  const std::string across = elide(left_name, 18) + " across";
  const std::string upwards = elide(right_name, 18) + " upwards";
  const float room = box.right - area.right;
  const bool beside =
      room > std::max(painter.text_width(across, true), painter.text_width(upwards, true)) + 12.0f;
  if (beside) {
    painter.text({area.right + 10.0f, area.bottom - line * 0.6f}, across, theme.dim, Anchor::start, true);
    painter.text({area.right + 10.0f, area.bottom - line * 1.8f}, upwards, theme.dim, Anchor::start, true);
  } else if (size > 2.2f * painter.text_width(across, true)) {
    painter.text({area.centre().x, area.bottom + line * 0.7f}, across, theme.dim, Anchor::middle, true);
    painter.text({area.left + 6.0f, area.top + line * 0.8f}, upwards, theme.dim, Anchor::start, true);
  }
}

}  // namespace driftscope
