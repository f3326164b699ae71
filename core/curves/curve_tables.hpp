// Curves as tables of words: where they end, how runs differ, and of trainings of our own which layer parts
// first and how the first steps were judged. Clients: the page of curves, the curves view.
#pragma once

#include <string>
#include <vector>

#include "core/curves/curve_set.hpp"

namespace driftscope {

struct CurveTable {
  std::string title;
  std::string note;  ///< how to read it; may be empty
  std::vector<std::string> columns;
  std::size_t words = 0;  ///< so many columns, from the first one, are text; the others are figures
  std::vector<std::vector<std::string>> rows;  ///< each as wide as the columns
};

/// Those that have rows.
[[nodiscard]] std::vector<CurveTable> curve_tables(const CurveSet& set);

}  // namespace driftscope
