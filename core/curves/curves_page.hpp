// Curves as one self-contained HTML page without scripts: a chart for each metric, the distance of layers of
// a training of our own, where curves end, how runs differ. Client: the command `curves`.
#pragma once

#include <string>

#include "core/curves/curve_set.hpp"

namespace driftscope {

[[nodiscard]] std::string curves_page(const std::string& title, const CurveSet& set);

}  // namespace driftscope
