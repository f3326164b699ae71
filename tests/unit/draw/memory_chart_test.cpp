// The memory chart, without a screen.
#include "core/draw/memory_chart.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/support/dense_painter.hpp"

namespace driftscope::test::memory_chart_test {
namespace {

/// Of a curve with samples at these times.
std::vector<std::string> time_labels(double first_ms, double last_ms) {
  DensePainter painter;
  paint_memory(painter, {0.0f, 0.0f, 600.0f, 300.0f},
               {{0, "heap_in_use", {{first_ms, 1000, "heap_in_use"}, {last_ms, 2000, "heap_in_use"}}}},
               light_theme());
  std::erase_if(painter.texts, [](const std::string& text) { return !text.ends_with(" ms"); });
  return painter.texts;
}

}  // namespace

TEST_CASE("MemoryChart_TimeAxis_HasRoundTicksFromBeforeTheRunToItsEnd") {
  CHECK(time_labels(-15.0, 42.0) == std::vector<std::string>{"-10 ms", "10 ms", "20 ms", "30 ms", "40 ms"});
}

TEST_CASE("MemoryChart_TimesBeyondAnyRun_HaveFewTicks") {
  for (const double far : {1e15, 1e17, 1e308}) {
    CAPTURE(far);
    CHECK(time_labels(-far, far).size() <= 7);
    CHECK(time_labels(far, far).size() <= 7);
  }
}

}  // namespace driftscope::test::memory_chart_test
