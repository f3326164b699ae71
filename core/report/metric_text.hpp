// A metric's value as people read it. Clients: tables, screens.
#pragma once

#include <string>

#include "core/results/metrics_table.hpp"

namespace driftscope {

/// "1.19e-07", "17", "1 − 1.0e-08", "31.4 dB", "1.24 ms": as the row's format says.
[[nodiscard]] std::string metric_text(const MetricRow& row, double value);

}  // namespace driftscope
