#include "core/report/float16_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/report/tables.hpp"
#include "core/report/text_table.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope {
namespace {

std::string sum_text(const Float16Range& range, double sum) {
  if (range.partial_sum == 0.0) return "";
  return (range.sampled > 0 ? "≥ " : "") + format_number(sum);
}

std::string overflow_cell(const Float16Range& range) {
  std::string text;
  if (range.overflows > 0)
    text = fmt::format("{} element{}", format_count(range.overflows), range.overflows == 1 ? "" : "s");
  if (range.overflows == 0 && range.headroom < 1.0)
    text = range.largest > range.partial_sum ? "of results" : "of a partial sum";
  return text + (range.absorbed ? ", absorbed" : "");
}

template <class Holds>
std::string first_of(std::span<const Float16Range> ranges, const char* what, const Holds& holds) {
  const auto count = std::ranges::count_if(ranges, holds);
  if (count == 0) return {};
  return fmt::format("{}: {}, first {}\n", what, count == 1 ? "1 layer" : fmt::format("{} layers", count),
                     std::ranges::find_if(ranges, holds)->node);
}

}  // namespace

std::string float16_table(std::span<const Float16Range> ranges) {
  std::vector<std::string> names;
  for (const Float16Range& range : ranges) names.push_back(range.node);
  names = fitting_names(names, layer_name_width);
  TextTable table;
  table.column("layer", Align::left);
  table.column("op", Align::left);
  for (const char* title : {"largest", "partial sum", "any order", "headroom", "below 2⁻²⁴"})
    table.column(title, Align::right);
  table.column("overflow", Align::left);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Float16Range& range = ranges[i];
    table.row({elide_start(names[i], layer_name_width), elide(range.op, 20), format_number(range.largest),
               sum_text(range, range.partial_sum), sum_text(range, range.any_order),
               std::isfinite(range.headroom) ? format_number(range.headroom) + " ×" : "",
               range.below == 0
                   ? ""
                   : fmt::format("{} of {}", format_count(range.below), format_count(range.elements)),
               overflow_cell(range)});
  }
  std::string text = "Numbers beside the range of float16, 2⁻²⁴ to 65,504\n" + table.text();
  text += first_of(ranges, "overflow in float16 that is absorbed",
                   [](const Float16Range& one) { return one.absorbed; });
  text += first_of(ranges, "would overflow in float16",
                   [](const Float16Range& one) { return !one.absorbed && one.headroom < 1.0; });
  text += first_of(ranges, "would overflow in another order of summation", [](const Float16Range& one) {
    return one.headroom >= 1.0 && one.any_order > Element<DType::float16>::largest;
  });
  text += first_of(ranges, "numbers that are 0 in float16",
                   [](const Float16Range& one) { return one.below > 0; });
  return text;
}

}  // namespace driftscope
