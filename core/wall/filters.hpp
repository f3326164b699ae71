// The filters of a wall's front page: check boxes that the style sheet looks at, so that nothing need run.
// Client: front_page.
#pragma once

#include <string>
#include <vector>

#include "core/wall/wall.hpp"

namespace driftscope::wall {

struct Names {
  std::vector<std::string> hosts, engines;  ///< of the columns, each once
};

/// Of all columns: hosts in their order, engines by name.
[[nodiscard]] Names names_of(const Wall& wall);

/// Names come from files: classes are numbers.
[[nodiscard]] std::string column_class(const Names& names, const std::string& host,
                                       const std::string& engine);

/// What a box that is not checked hides; a verdict that is chosen leaves the rows that have it.
[[nodiscard]] std::string filter_rules(const Names& names);

/// The boxes.
[[nodiscard]] std::string filters_html(const Names& names);

}  // namespace driftscope::wall
