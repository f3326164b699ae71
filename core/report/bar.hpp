// A horizontal bar in a table cell. Clients: the sections of the report.
#pragma once

#include <cstddef>
#include <string>

namespace driftscope {

/// The class of what has the colour of a target (report_style.hpp): "s1".
[[nodiscard]] std::string series_class(std::size_t target);

/// `share` in [0, 1].
[[nodiscard]] std::string bar(double share, const std::string& css_class);

}  // namespace driftscope
