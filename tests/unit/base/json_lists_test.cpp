// Arrays of objects that are passed on one by one, and the rest of the text.
#include "core/base/json_lists.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/json.hpp"

namespace driftscope::test::json_lists_test {
namespace {

struct Read {
  nlohmann::ordered_json rest;
  std::vector<std::string> entries;  // "list place: entry"
};

constexpr std::string_view places[] = {"rows", "left.rows", "right.of.rows", "right.rows"};

Result<Read> try_to_read(std::string_view text) {
  Read made;
  DRIFTSCOPE_TRY(
      made.rest,
      parse_json_lists(text, places,
                       [&](std::size_t list, std::size_t place, const nlohmann::ordered_json& entry) {
                         made.entries.push_back(std::to_string(list) + " " + std::string(places[place]) +
                                                ": " + json_text(entry));
                       }));
  return made;
}

Read read(std::string_view text) {
  auto made = try_to_read(text);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  return *std::move(made);
}

using Entries = std::vector<std::string>;

}  // namespace

TEST_CASE("JsonLists_EntriesAreHandedOver_WithTheirListAndItsPlace") {
  const Read read_one = read(R"({"left":{"rows":[{"a":1},{"a":[{"b":2}]}],"n":3},
                                 "right":[{"of":{"rows":[]}},{"rows":[{"a":{"rows":[{"c":4}]}}]}]})");
  CHECK(read_one.entries == Entries{R"(0 left.rows: {"a":1})", R"(0 left.rows: {"a":[{"b":2}]})",
                                    R"(2 right.rows: {"a":{"rows":[{"c":4}]}})"});
  const auto& rest = read_one.rest;
  CHECK(rest["left"]["n"] == 3);
  CHECK(list_number(rest["left"]["rows"]) == 0);
  CHECK(list_number(rest["right"][0]["of"]["rows"]) == 1);
  CHECK(list_number(rest["right"][1]["rows"]) == 2);
  CHECK_FALSE(list_number(rest["left"]["n"]).has_value());
}

TEST_CASE("JsonLists_AtTheOutermostPlace_OrWithOtherEntries_StayReadable") {
  CHECK(read(R"({"rows":[{}]})").entries == Entries{"0 rows: {}"});
  CHECK(read(R"([{"rows":[{}]},{"rows":[{}]}])").entries == Entries{"0 rows: {}", "1 rows: {}"});
  const Read mixed = read(R"({"rows":[1,{"a":2},[{"b":3}],"x"]})");
  CHECK(mixed.entries == Entries{R"(0 rows: {"a":2})"});
  CHECK(json_text(mixed.rest) == R"({"rows":[1,[{"b":3}],"x"]})");
  CHECK(read(R"({"rows":{"a":1}})").rest["rows"]["a"] == 1);
  CHECK(list_number(read(R"({"rows":[{}],"rows":[{}]})").rest["rows"]) == 1);
}

TEST_CASE("JsonLists_ElsewhereUnderTheSameName_AreLeftAlone") {
  const Read made = read(R"({"other":{"rows":[{"a":1}]},"left":{"deeper":{"rows":[{"b":2}]},"rows":[{}]}})");
  CHECK(made.entries == Entries{"0 left.rows: {}"});
  CHECK(made.rest["other"]["rows"][0]["a"] == 1);
  CHECK(made.rest["left"]["deeper"]["rows"][0]["b"] == 2);
}

TEST_CASE("JsonLists_NoJson_IsAnError") {
  for (const char* text :
       {"", "nonsense", R"({"rows":[{"a":1})", R"({"rows":[{"a":1}]]})", "{\"rows\"", "]"}) {
    INFO("text ", std::string(text));
    CHECK_FALSE(try_to_read(text).ok());
  }
  CHECK(read("3").rest == 3);
}

TEST_CASE("JsonLists_TooDeepOrTooManyKeys_IsAnError" * doctest::test_suite("large")) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(try_to_read(nested(max_json_depth)).ok());
  const auto deep = try_to_read(nested(max_json_depth + 1));
  REQUIRE_FALSE(deep.ok());
  CHECK(deep.error().message == "expected at most 64 objects and lists inside each other");
  CHECK_FALSE(try_to_read(R"({"rows":[{"a":)" + nested(max_json_depth) + "}]}").ok());
  std::string many = "{";
  for (std::size_t i = 0; i < max_json_keys; ++i) many += "\"" + std::to_string(i) + "\":1,";
  CHECK_FALSE(try_to_read(many + "\"last\":1}").ok());
  many.back() = '}';
  CHECK(try_to_read(many).ok());
}

}  // namespace driftscope::test::json_lists_test
