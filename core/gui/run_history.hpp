// Medians over builds, for one model, target and machine each. The desktop program reads them
// from the history of benches, the page from that of its own runs. Clients: the runs view.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/bench/noise.hpp"
#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"
#include "core/gui/csv.hpp"

namespace driftscope::gui {

struct TrendPoint {
  std::string build;
  std::string first_seen;  ///< UTC
  double median_ns = 0.0;
  Change change = Change::first;  ///< compared with the previous build
  double times_as_long = 1.0;
};

struct RunTrend {
  std::string title;  ///< "resnet50  chrome/fast  batch 1"
  std::string where;  ///< machine and browser
  std::vector<TrendPoint> points;
};

/// Judges each build against the previous one, as `bench --history` does.
[[nodiscard]] RunTrend make_trend(std::string title, std::string where, std::span<const BuildTimes> builds,
                                  std::span<const std::string> first_seen, double confidence);

/// "✗ slower" in words: "slower +12.3 %".
[[nodiscard]] std::string change_words(const TrendPoint& point);

void paint_trend(Painter& painter, Box box, const RunTrend& trend, const Theme& theme);
[[nodiscard]] Table trend_table(const std::vector<RunTrend>& trends);

}  // namespace driftscope::gui
