// JSON from text and to text.
#include "core/base/json.hpp"

#include <doctest/doctest.h>

namespace driftscope::test::json_test {

TEST_CASE("TextAt_WhatIsNoText_IsEmpty") {
  const nlohmann::json object = parse_json(R"({"text": "x", "number": 3, "none": null})");
  CHECK(text_at(object, "text") == "x");
  CHECK(text_at(object, "number").empty());
  CHECK(text_at(object, "none").empty());
  CHECK(text_at(object, "absent").empty());
  CHECK(text_at(parse_json("[1]"), "text").empty());
  CHECK(text_at(parse_json("not JSON"), "text").empty());
}

}  // namespace driftscope::test::json_test
