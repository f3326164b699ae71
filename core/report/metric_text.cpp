#include "core/report/metric_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/format.hpp"

namespace driftscope {

std::string metric_text(const MetricRow& row, double value) {
  switch (row.format) {
    case MetricFormat::number:
    case MetricFormat::share: break;
    case MetricFormat::ulp: return format_ulp(value);
    case MetricFormat::count: return fmt::format("{:.0f}", value);
    case MetricFormat::cosine:
      if (value < 1.0 && value > 0.999999) return fmt::format("1 − {:.1e}", 1.0 - value);
      return fmt::format("{:.6f}", value);
    case MetricFormat::decibel:
      return std::isfinite(value) ? fmt::format("{:.1f} dB", value) : format_number(value);
    case MetricFormat::time: return format_ns(static_cast<std::int64_t>(value));
  }
  return format_number(value);
}

}  // namespace driftscope
