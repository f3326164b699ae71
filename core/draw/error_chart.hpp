// The errors of a wrong layer over its tensor, the tiles of their pattern outlined. Clients: the panel Why
// of the screens, the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"
#include "core/verify/explanation.hpp"

namespace driftscope {

struct ErrorChartSize {
  float width = 0.0f;
  float height = 0.0f;
};
/// In a place of this width: square cells, where they fit.
[[nodiscard]] ErrorChartSize error_chart_size(const ErrorMap& map, float width, float unit = 1.0f);

/// The stronger the colour, the larger the error; around wrong elements, and between the blocks of `tile`
/// (as of ErrorPattern; may be empty), there are lines.
void paint_error_chart(Painter& painter, Box box, const ErrorMap& map, const std::vector<std::int64_t>& tile,
                       const Theme& theme);

/// "axis 2 (14) down, axis 3 (14) across".
[[nodiscard]] std::string error_chart_axes(const ErrorMap& map);

/// What a point of the picture stands for: "axis 2: 4, axis 3: 8 to 9: at most 100 × the budget".
[[nodiscard]] std::optional<std::string> error_chart_text(Box box, const ErrorMap& map, Point at);

}  // namespace driftscope
