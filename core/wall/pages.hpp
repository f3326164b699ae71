// A wall as HTML: a front page and one page for each model, which link to one another and to nothing else.
// They look like the report, run nothing and load nothing; filters are check boxes that the style sheet looks
// at. All texts of files are escaped. Clients: the command wall, which writes them, and serve.
#pragma once

#include <string>

#include "core/wall/wall.hpp"

namespace driftscope::wall {

struct Page {
  std::string html;
  std::string policy;  ///< its Content-Security-Policy, which it also has inside
};

inline constexpr const char* front_page_name = "index.html";

/// "What changed", and the table of models by host and engine.
[[nodiscard]] Page front_page(const Wall& wall);
/// Every target of one model with its history. `model`: in Wall::models.
[[nodiscard]] Page model_page(const Wall& wall, std::size_t model);

}  // namespace driftscope::wall
