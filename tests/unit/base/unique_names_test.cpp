#include "core/base/unique_names.hpp"

#include <doctest/doctest.h>

#include <set>

namespace driftscope::test {

TEST_CASE("UniqueNames_WantedAgain_GetTheFirstFreeSuffix") {
  UniqueNames names;
  CHECK(names.take("x") == "x");
  CHECK(names.insert("x_3"));
  CHECK_FALSE(names.insert("x_3"));
  CHECK(names.take("x") == "x_2");
  CHECK(names.take("x") == "x_4");
  CHECK(names.take("x_2") == "x_2_2");
  CHECK(names.take("") == "");
  CHECK(names.take("") == "_2");
}

TEST_CASE("UniqueNames_OneNameForAll_IsQuick") {
  // The square of this would take minutes, and the test's limit ends it.
  UniqueNames names;
  std::set<std::string> seen;
  for (int i = 0; i < 200'000; ++i) REQUIRE(seen.insert(names.take("tensor")).second);
  CHECK(names.take("tensor") == "tensor_200001");
}

}  // namespace driftscope::test
