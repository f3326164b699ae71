#include "core/protocol/schema.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/json.hpp"

namespace driftscope::test::schema_test {
namespace {

using nlohmann::json;

std::string error_of(const std::string& request, const json& fields) {
  const auto specs = message_specs();
  const auto found = std::ranges::find(specs, std::string_view(request), &MessageSpec::name);
  REQUIRE(found != specs.end());
  json value = fields;
  value["do"] = request;
  const Status checked = check_object(*found->request, value);
  return checked.ok() ? "" : checked.error().message;
}

TEST_CASE("Schema_WrongField_NamesMessageFieldAndExpectation") {
  const json start = {{"target", "pc/strict"}};
  const auto with = [&](const char* name, const json& value) {
    json changed = start;
    changed[name] = value;
    return error_of("start", changed);
  };
  CHECK(error_of("start", start) == "");
  CHECK(with("repeat", "five") ==
        "request \"start\": field \"repeat\": expected a whole number in [1, 1000000], got 'five'");
  CHECK(with("repeat", 0) ==
        "request \"start\": field \"repeat\": expected a whole number in [1, 1000000], got 0");
  CHECK(with("repeat", 1000001).ends_with("got 1000001"));
  CHECK(with("repeat", 1.5).ends_with("got 1.5"));
  CHECK(with("seed", 18446744073709551615ull) == "");
  CHECK(with("seed", -1).ends_with("in [0, 18446744073709551615], got -1"));
  CHECK(with("stream", 1) == "request \"start\": field \"stream\": expected true or false, got 1");
  CHECK(
      with("capture", "some") ==
      "request \"start\": field \"capture\": expected one of \"all\", \"fused\", \"outputs\", \"none\", got "
      "'some'");
  CHECK(with("values", json::array({"a", 7})) ==
        "request \"start\": field \"values[1]\": expected a string, got 7");
  CHECK(with("values", "a").find("a list, each entry a string, got 'a'") != std::string::npos);
  CHECK(with("environment", {{"a", json::array()}}).find("\"environment\"") != std::string::npos);
  CHECK(
      with("repaet", 2).starts_with("request \"start\": unknown field 'repaet'; expected do, target, seed"));
  CHECK(with("repaet", 2).find(", repeat, settle_ms") != std::string::npos);
  CHECK(error_of("start", json::object()) ==
        "request \"start\": field \"target\" is missing; expected a string");
  CHECK(with("target", nullptr).find("\"target\" is missing") != std::string::npos);
  CHECK(with("seed", nullptr) == "");
}

TEST_CASE("Schema_WrongFieldOfAnEntry_NamesTheEntry") {
  const json good = {{"name", "w.bin"}, {"bytes", 4}};
  CHECK(error_of("load", {{"attachments", {good}}}) == "");
  CHECK(error_of("load", {{"attachments", {good, {{"name", "v.bin"}}}}}) ==
        "request \"load\": attachments[1]: field \"bytes\" is missing; expected a whole number in [0, "
        "9223372036854775807]");
  CHECK(error_of("load", {{"attachments", {3}}}).find("attachments[0]") != std::string::npos);
}

TEST_CASE("Schema_LongOrHostileValue_IsCutAndEscapedInTheMessage") {
  const std::string message = error_of("load", {{"unhashed", std::string(5000, 'x') + "\x1b"}});
  CHECK(message.size() < 300);
  CHECK(error_of("load", {{"\x1b[2J", 1}}).find('\x1b') == std::string::npos);
}

TEST_CASE("Schema_Response_IsCheckedToo") {
  CHECK(check_response("start", {{"nodes", 3}}).ok());
  CHECK_FALSE(check_response("start", {{"nodes", 3}, {"more", 1}}).ok());
  CHECK_FALSE(check_response("start", json::object()).ok());
  CHECK(check_response("start", {{"error", {{"kind", "io"}, {"message", "m"}}}}).ok());
  CHECK_FALSE(check_response("start", {{"error", {{"kind", "odd"}, {"message", "m"}}}}).ok());
  CHECK_FALSE(check_response("dance", json::object()).ok());
}

TEST_CASE("Schema_Json_IsTheSchema") {
  const json schema = parse_json(schema_json());
  REQUIRE(schema.is_object());
  CHECK(schema["requests"].size() == message_specs().size());
}

TEST_CASE("Schema_NullableListOfAnything_MayBeNull") {
  const json output = {{"name", "y"}, {"dtype", "float16"}, {"shape", {2}}, {"values", nullptr}};
  const json response = {
      {"layers", json::array()}, {"outputs", {output}}, {"memory", json::array()}, {"run", nullptr}};
  CHECK(check_response("finish", response).ok());
}

}  // namespace
}  // namespace driftscope::test::schema_test
