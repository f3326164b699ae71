// A metric's value for people. Clients: tables, GUI.
#pragma once

#include <string>

#include "core/results/metrics_table.hpp"

namespace driftscope {

/// "1.19e-07", "17", "1 − 1.0e-08", "31.4 dB", "1.24 ms": in the row's format.
[[nodiscard]] std::string metric_text(const MetricRow& row, double value);

}  // namespace driftscope
