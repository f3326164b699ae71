#include "core/gui/view_titles.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

#include "tests/unit/support/text.hpp"

namespace driftscope::test::view_titles_test {

TEST_CASE("ViewTitles_AreThoseOfTheFilesOfViews") {
  const auto titles = gui::view_titles();
  for (const std::string_view title : {"Drift", "Graph", "Layers", "Memory", "Run", "Summary", "Tensor"})
    CHECK(std::ranges::count(titles, title) == 1);
  CHECK(std::ranges::is_sorted(titles));
  CHECK(gui::view_choices().starts_with("Drift, Graph, "));
  CHECK(holds(gui::view_choices(), " or "));
}

}  // namespace driftscope::test::view_titles_test
