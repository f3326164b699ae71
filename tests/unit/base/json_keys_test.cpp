// Keys that nobody knows, in files that people write.
#include "core/base/json_keys.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace driftscope::test::json_keys_test {

using nlohmann::ordered_json;

TEST_CASE("CheckKeys_DocumentOfKnownKeys_IsAccepted") {
  const ordered_json known = {{"name", "x"}, {"models", {{{"path", "x"}, {"input", {"x"}}}}}};
  CHECK(check_keys(ordered_json::object(), known).ok());
  CHECK(check_keys({{"models", {{{"path", "a"}}, {{"input", {"b", "c"}}}}}}, known).ok());
  // Values of other types are for the reader to refuse.
  CHECK(check_keys({{"models", 3}}, known).ok());
}

TEST_CASE("CheckKeys_UnknownKey_IsNamedWithThoseThatThereAre") {
  const ordered_json known = {{"name", "x"}, {"models", {{{"path", "x"}, {"input", {"x"}}}}}};
  const Status top = check_keys({{"nmae", "a"}}, known);
  REQUIRE(!top.ok());
  CHECK(top.error().message == "nmae: there is no such field; expected name, models");
  const Status inner = check_keys({{"models", {{{"path", "a"}}, {{"pth", "a"}}}}}, known);
  REQUIRE(!inner.ok());
  CHECK(inner.error().message == "models[1].pth: there is no such field; expected path, input");
}

}  // namespace driftscope::test::json_keys_test
