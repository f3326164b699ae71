#include <doctest/doctest.h>

#include "core/base/json_walk.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::json_walk_test {

TEST_CASE("JsonWalk_SaysWhatIsWellFormed_AndInWhichOrder") {
  const JsonWalk walk = walk_json(R"({"b":1,"a":{"b":[1,-2,3.5,true,null,"x"]},"c":{}})", 8);
  CHECK(walk.valid);
  CHECK(walk.order == std::vector<std::string>{"b", "a", "c"});
  CHECK(walk.duplicate.empty());
  for (const char* text : {"", "{", "{\"a\":1,}", "[1 2]", "{}x", "\"\xff\"", "nul"}) {
    CAPTURE(text);
    CHECK(!walk_json(text, 8).valid);
  }
}

TEST_CASE("JsonWalk_KeysTwiceAndDepth_AreSeen") {
  CHECK(walk_json(R"({"a":{"k":1,"j":2,"k":3}})", 8).duplicate == "k");
  CHECK(walk_json(R"({"a":{"k":1},"b":{"k":1}})", 8).duplicate.empty());
  CHECK(walk_json("[[[]]]", 3).valid);
  const JsonWalk deep = walk_json("[[[[]]]]", 3);
  CHECK(!deep.valid);
  CHECK(deep.too_deep);
  CHECK(!walk_json(std::string(1'000'000, '['), 32).valid);
}

TEST_CASE("JsonWalk_AHundredThousandKeys_TakesNoTimeToSpeakOf") {
  // With callbacks while parsing each of these keys cost a walk over all others: minutes.
  constexpr int keys = repetitions(100'000);
  std::string text = "{";
  for (int i = 0; i < keys; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":{\"s\":[1]}";
  const JsonWalk walk = walk_json(text + "}", 8);
  CHECK(walk.valid);
  CHECK(walk.order.size() == keys);
}

}  // namespace driftscope::test::json_walk_test
