#include "core/gui/view_titles.hpp"

#include <fmt/format.h>

namespace driftscope::gui {

std::string view_choices() {
  const auto titles = view_titles();
  return fmt::format("{} or {}", fmt::join(titles.first(titles.size() - 1), ", "), titles.back());
}

}  // namespace driftscope::gui
