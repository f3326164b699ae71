#include "core/gui/view_titles.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/unit/support/text.hpp"

namespace driftscope::test::view_titles_test {

TEST_CASE("ViewChoices_AreTheFilesOfViews") {
  const std::string choices = ", " + gui::view_choices() + ",";
  for (const char* title :
       {", Drift,", ", Graph,", ", Layers,", ", Memory,", ", Run,", ", Summary,", " or T"}) {
    CAPTURE(title);
    CHECK(holds(choices, title));
  }
}

}  // namespace driftscope::test::view_titles_test
