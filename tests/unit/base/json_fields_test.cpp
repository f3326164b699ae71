// Fields of a document with their types; what is wrong is said with its place.
#include "core/base/json_fields.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/json.hpp"
#include "core/base/json_put.hpp"

namespace driftscope::test::json_fields_test {
namespace {

template <class T>
std::string error_of(const char* text, T start = {}) {
  T value = start;
  const Status read = read_json(parse_ordered_json(text), JsonPath("value"), value);
  return read.ok() ? "read" : read.error().message;
}

template <class T>
T read(const char* text) {
  T value{};
  const Status status = read_json(parse_ordered_json(text), JsonPath("value"), value);
  REQUIRE_MESSAGE(status.ok(), status.error().message);
  return value;
}

}  // namespace

TEST_CASE("JsonFields_Values_AreReadByTheirTypes") {
  CHECK(read<std::int64_t>("-3") == -3);
  CHECK(read<std::size_t>("3") == 3);
  CHECK(read<bool>("true"));
  CHECK(read<std::vector<std::vector<std::int64_t>>>("[[1,2],[]]")[0][1] == 2);
  CHECK(read<std::map<std::string, double>>(R"({"a":1.5})").at("a") == 1.5);
  CHECK_FALSE(read<std::optional<std::string>>("null").has_value());
  CHECK(std::isnan(read<double>("null")));
  CHECK(read<double>("1.7976931348623157e308") == INFINITY);
  CHECK(read<double>("-1.7976931348623157e308") == -INFINITY);
}

TEST_CASE("JsonFields_WrongValues_AreErrorsWithTheirPlace") {
  CHECK(error_of<std::int64_t>("18446744073709551615") ==
        "value: expected a whole number of 64 bits, got 18446744073709551615");
  CHECK(error_of<std::int64_t>("3.0") == "value: expected a whole number of 64 bits, got 3.0");
  CHECK(error_of<std::size_t>("-3") == "value: expected a number of at least 0, got -3");
  CHECK(error_of<int>("3000000000") == "value: expected a smaller number, got 3000000000");
  CHECK(error_of<bool>("0") == "value: expected true or false, got 0");
  CHECK(error_of<std::string>("{}") == "value: expected a string, got an object");
  CHECK(error_of<std::vector<std::int64_t>>("[1,[]]") ==
        "value[1]: expected a whole number of 64 bits, got a list");
  CHECK(error_of<std::map<std::string, double>>(R"({"a":{"b":1}})") ==
        "value.a: expected a number or null, got an object");
}

TEST_CASE("JsonFields_OfAnObject_AreFoundInAnyOrderAndUnknownOnesIgnored") {
  const auto object = parse_ordered_json(R"({"z":1,"b":"text","a":2,"new":[{}]})");
  JsonFields fields(object, JsonPath());
  std::int64_t a = 0;
  std::int64_t z = 0;
  std::int64_t absent = 7;
  std::string b;
  fields.required("a", a);
  fields.required("z", z);
  fields.required("b", b);
  fields.optional("absent", absent);
  fields.within("a", a, 0, 2);
  CHECK(std::move(fields).status().ok());
  CHECK(a == 2);
  CHECK(z == 1);
  CHECK(b == "text");
  CHECK(absent == 7);
}

TEST_CASE("JsonFields_TheFirstError_Stays") {
  const auto object = parse_ordered_json(R"({"a":"x","b":5,"c":"\u001b[2J"})");
  const auto first = [&](auto check) {
    JsonFields fields(object, JsonPath("here"));
    check(fields);
    const Status status = std::move(fields).status();
    return status.ok() ? std::string("read") : status.error().message;
  };
  std::int64_t whole = 0;
  std::string text;
  CHECK(first([&](JsonFields& fields) {
          fields.required("a", whole);
          fields.required("absent", whole);
        }) == "here.a: expected a whole number of 64 bits, got 'x'");
  CHECK(first([&](JsonFields& fields) { fields.required("absent", whole); }) ==
        "here: \"absent\" is missing");
  CHECK(first([&](JsonFields& fields) {
          fields.required("b", whole);
          fields.within("b", whole, 0, 4);
        }) == "here.b: expected a whole number in [0, 4], got 5");
  CHECK(first([&](JsonFields& fields) {
          fields.required("c", text);
          fields.printable("c", text);
        }) == "here.c: it contains control characters");
}

TEST_CASE("JsonFields_OptionalNull_IsAbsent_ButOfADoubleNaN") {
  const auto object =
      parse_ordered_json(R"({"whole":null,"text":null,"name":null,"double":null,"flag":null})");
  JsonFields fields(object, JsonPath());
  std::int64_t whole = 7;
  std::string text = "before";
  std::optional<int> name;
  double number = 7.0;
  bool flag = true;
  fields.optional("whole", whole);
  fields.optional("text", text);
  fields.optional_name("name", name, [](std::string_view) { return std::optional(1); });
  fields.optional("double", number);
  fields.optional("flag", flag);
  CHECK_FALSE(fields.has("name"));
  CHECK(std::move(fields).status().ok());
  CHECK(whole == 7);
  CHECK(text == "before");
  CHECK_FALSE(name.has_value());
  CHECK(std::isnan(number));
  CHECK(flag);
}

TEST_CASE("JsonFields_LimitsOfAnAbsentField_AreNotThoseOfItsDefault") {
  const auto object = parse_ordered_json(R"({"null":null})");
  JsonFields fields(object, JsonPath());
  std::int64_t whole = -1;
  double number = NAN;
  for (const char* const key : {"absent", "null"}) {
    fields.optional(key, whole);
    fields.within(key, whole, 0, 4);
  }
  fields.optional("absent", number);
  fields.finite("absent", number);
  fields.at_least("absent", number, 0.0);
  CHECK(fields.ok());
  fields.optional("null", number);
  fields.at_least("null", number, 0.0);
  const Status status = std::move(fields).status();
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message == "null: expected a finite number of at least 0, got null");
}

TEST_CASE("JsonPut_AMap_HasItsKeysInOrder") {
  const std::map<std::string, std::int64_t> map = {{"b", 2}, {"a", 1}};
  CHECK(json_text(encode(map)) == R"({"a":1,"b":2})");
  CHECK(json_text(encode(std::map<std::string, std::string>())) == "{}");
}

TEST_CASE("JsonText_ThatIsNotUtf8_IsNotExact") {
  const nlohmann::ordered_json object = {{"b", "\xff"}, {"a", 1}};
  const auto text = exact_json_text(object, "nodes");
  REQUIRE_FALSE(text.ok());
  CHECK(text.error().message == "nodes holds text that is not UTF-8");
  CHECK(exact_json_text(nlohmann::ordered_json{{"b", 2}, {"a", 1}}, "nodes").value() == R"({"b":2,"a":1})");
}

TEST_CASE("JsonPut_WhatIsWritten_IsReadAgain") {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  put(object, "text", std::string("x"));
  put(object, "infinite", -INFINITY);
  put(object, "none", std::optional<std::int64_t>());
  put(object, "lists", std::vector<std::vector<std::int64_t>>{{1}, {}});
  put_unless_empty(object, "flag", false);
  put_unless_empty(object, "empty", std::string());
  put_unless_empty(object, "zero", std::optional<std::int64_t>(0));
  CHECK(json_text(object) ==
        R"({"text":"x","infinite":-1.7976931348623157e+308,"none":null,"lists":[[1],[]],"zero":0})");
}

}  // namespace driftscope::test::json_fields_test
