// Arrays of objects that are passed on one by one, and the rest of the text.
#include "core/base/json_lists.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/json.hpp"

namespace driftscope::test::json_lists_test {
namespace {

struct Read {
  nlohmann::json rest;
  std::vector<std::string> entries;  // "list owner: entry"
};

Read read(std::string_view text) {
  Read made;
  made.rest = parse_json_lists(
      text, "rows", [&](std::size_t list, std::string_view owner, const nlohmann::json& entry) {
        made.entries.push_back(std::to_string(list) + " " + std::string(owner) + ": " + json_text(entry));
      });
  return made;
}

using Entries = std::vector<std::string>;

}  // namespace

TEST_CASE("JsonLists_EntriesAreHandedOver_WithTheirListAndItsOwner") {
  const Read read_one = read(R"({"left":{"rows":[{"a":1},{"a":[{"b":2}]}],"n":3},
                                 "right":[{"of":{"rows":[]}},{"rows":[{"a":{"rows":[{"c":4}]}}]}]})");
  CHECK(read_one.entries ==
        Entries{R"(0 left: {"a":1})", R"(0 left: {"a":[{"b":2}]})", R"(2 right: {"a":{"rows":[{"c":4}]}})"});
  const auto& rest = read_one.rest;
  CHECK(rest["left"]["n"] == 3);
  CHECK(list_number(rest["left"]["rows"]) == 0);
  CHECK(list_number(rest["right"][0]["of"]["rows"]) == 1);
  CHECK(list_number(rest["right"][1]["rows"]) == 2);
  CHECK_FALSE(list_number(rest["left"]["n"]).has_value());
}

TEST_CASE("JsonLists_WithoutOwner_OrWithOtherEntries_StayReadable") {
  CHECK(read(R"({"rows":[{}]})").entries == Entries{"0 : {}"});
  CHECK(read(R"([{"rows":[{}]},{"rows":[{}]}])").entries == Entries{"0 : {}", "1 : {}"});
  const Read mixed = read(R"({"rows":[1,{"a":2},[{"b":3}],"x"]})");
  CHECK(mixed.entries == Entries{R"(0 : {"a":2})"});
  CHECK(json_text(mixed.rest) == R"({"rows":[1,[{"b":3}],"x"]})");
  CHECK(read(R"({"rows":{"a":1}})").rest["rows"]["a"] == 1);
  CHECK(list_number(read(R"({"rows":[{}],"rows":[{}]})").rest["rows"]) == 1);
}

TEST_CASE("JsonLists_NoJson_IsDiscarded") {
  for (const char* text :
       {"", "nonsense", R"({"rows":[{"a":1})", R"({"rows":[{"a":1}]]})", "{\"rows\"", "]"}) {
    INFO("text ", std::string(text));
    CHECK(read(text).rest.is_discarded());
  }
  CHECK(read("3").rest == 3);
}

}  // namespace driftscope::test::json_lists_test
