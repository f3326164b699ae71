#include "core/curves/curve_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/base/text.hpp"

namespace driftscope {

void CurveFormatTable::add(CurveFormat format) {
  const auto at = std::ranges::upper_bound(formats_, format.order, {}, &CurveFormat::order);
  formats_.insert(at, format);
}

Result<CurveFile> read_curves(const CurveSource& source) {
  std::string known;
  for (const CurveFormat& format : curve_format_table().all()) {
    known += fmt::format("{}{}", known.empty() ? "" : "; ", format.what);
    if (!format.fits(source)) continue;
    auto read = format.read(source);
    if (!read.ok()) return in_context(std::move(read).error(), source.path);
    CurveFile file = *std::move(read);
    file.format = format.name;
    if (file.curves.empty())
      return bad_input(fmt::format("{}: no curves in it, though it looks like {}", source.path, format.what));
    for (Curve& curve : file.curves) {
      if (curve.steps.empty() || !printable(curve.run) || !printable(curve.metric))
        return bad_input(fmt::format("{}: the curve {} of {} has no points, or a name that cannot be shown",
                                     source.path, in_quotes(curve.metric), in_quotes(curve.run)));
      order_points(curve);
    }
    return file;
  }
  return bad_input(fmt::format("{}: not a file of training curves ({} bytes, beginning with {}); expected {}",
                               source.path, source.bytes.size(), in_quotes(source.text().substr(0, 24)),
                               known));
}

// Not by from_chars, which libc++ lacks for doubles.
bool parse_curve_number(std::string_view text, double& value) {
  std::string lower(text.substr(0, 64));
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (text.empty() || text.size() > 60) return false;
  const bool negative = lower[0] == '-';
  const std::string_view word = std::string_view(lower).substr(negative || lower[0] == '+' ? 1 : 0);
  if (word == "nan") return value = std::numeric_limits<double>::quiet_NaN(), true;
  if (word == "inf" || word == "infinity") return value = negative ? -HUGE_VAL : HUGE_VAL, true;
  if (lower.find_first_not_of("0123456789.e+-") != std::string::npos) return false;
  char* end = nullptr;
  value = std::strtod(lower.c_str(), &end);
  return end == lower.c_str() + lower.size();
}

}  // namespace driftscope
