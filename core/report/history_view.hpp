// The series of medians over builds, as a table. Client: the bench command (--history).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/bench/noise.hpp"

namespace driftscope {

/// One target with one model on one machine.
struct SeriesView {
  std::string title;  ///< "resnet50  chrome/fast  batch 1"
  std::string where;  ///< machine and browser
  std::span<const BuildTimes> builds;
  std::span<const std::string> first_seen;  ///< UTC, one per build
};

/// If `slower` is given, it receives the number of slowdowns that are flagged.
[[nodiscard]] std::string history_table(const SeriesView& series, double confidence, int* slower = nullptr);

}  // namespace driftscope
