// YAML as people write it: values by the core schema, lines of what is wrong, and texts that would blow up.
#include "native/text/yaml.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"

namespace driftscope::test::yaml_test {
namespace {

std::string json_of(std::string_view text) {
  const auto document = read_yaml(text);
  REQUIRE_MESSAGE(document.ok(), document.error().message);
  return json_text(document->value);
}

std::string failure(std::string_view text) {
  const auto document = read_yaml(text);
  REQUIRE_MESSAGE(!document.ok(), "it was accepted");
  return document.error().message;
}

}  // namespace

TEST_CASE("Yaml_Values_AreThoseOfTheCoreSchema") {
  CHECK(json_of("[1, -2, +3, 0x1f, 0o17, 1.5, 1e3, -.5, .5]") == "[1,-2,3,31,15,1.5,1000.0,-0.5,0.5]");
  CHECK(json_of("[true, False, null, ~, x]") == "[true,false,null,null,\"x\"]");
  CHECK(json_of("['1', \"true\", '~']") == R"(["1","true","~"])");
  // Of other schemas, or too large: texts.
  CHECK(json_of("[yes, 1_000, 1:30, +-1, ++1, 0x, 0x-1, 1e999, 99999999999999999999, .inf, '']") ==
        R"(["yes","1_000","1:30","+-1","++1","0x","0x-1","1e999",1e+20,".inf",""])");
}

TEST_CASE("Yaml_BlocksFlowsAndJson_AreTheSame") {
  const std::string expected = R"({"models":["a.onnx",{"path":"b.onnx"}],"run":{"repeat":3}})";
  CHECK(json_of("models:\n  - a.onnx\n  - path: b.onnx   # a comment\nrun: {repeat: 3}\n") == expected);
  CHECK(json_of(expected) == expected);
  CHECK(json_of("text: |\n  one\n  two\n") == R"({"text":"one\ntwo\n"})");
}

TEST_CASE("Yaml_Aliases_StandForWhatTheyName") {
  CHECK(json_of("a: &x [1, 2]\nb: *x\n") == R"({"a":[1,2],"b":[1,2]})");
  CHECK(failure("a: *x\n") == "line 1: *x: no &x is before it");
  CHECK(failure("a: &x [*x]\n") == "line 1: *x: no &x is before it");
}

TEST_CASE("Yaml_Lines_AreThoseOfTheInnermostValue") {
  const auto document = read_yaml("# one\nmodels:\n  - a\n  - path: b\n    name: c\n");
  REQUIRE(document.ok());
  CHECK(document->line_of("models[1].name") == 5);
  CHECK(document->line_of("models[1].other") == 4);
  CHECK(document->line_of("models[7]") == 3);
  CHECK(document->line_of("targets: expected") == 2);
}

TEST_CASE("Yaml_WhatIsRefused_IsSaidWithItsLine") {
  CHECK(failure("") == "line 1: there is nothing in it");
  CHECK(failure("a: 1\na: 2\n") == "line 2: 'a' is there twice");
  CHECK(failure("a: 1\n---\nb: 2\n") == "line 2: a second document begins; expected one");
  CHECK(failure("a: !!python/object x\n").starts_with("line 1: the tag 'tag:yaml.org,2002:python/object'"));
  CHECK(failure("base: &b {x: 1}\nother:\n  <<: *b\n").starts_with("line 3: '<<' merges keys"));
  CHECK(failure("? [a]\n: 1\n") == "line 1: expected a text as the key");
  CHECK(failure("a: [1, 2\n").starts_with("line 2: no YAML: "));
  CHECK(failure("a: \"\xff\"\n").starts_with("no YAML: "));
}

TEST_CASE("Yaml_TextsThatBlowUp_AreLimited") {
  std::string laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'b'; name < 'k'; ++name)
    laughs += fmt::format("{0}: &{0} [*{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}]\n", name,
                          static_cast<char>(name - 1));
  CHECK(failure(laughs).find("more than 100000 values, aliases included") != std::string::npos);
  CHECK(failure(std::string(100'000, '[')).find("more than 64 levels") != std::string::npos);
  // As deep as JSON is read.
  const auto nested = [](int levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  CHECK(parse_document(json_of(nested(64))).ok());
  CHECK(failure(nested(65)).find("more than 64 levels") != std::string::npos);
  // Each alias nests what it stands for one level deeper.
  std::string deep = "a: &a0 [x]\n";
  for (int i = 1; i < 80; ++i) deep += fmt::format("a{0}: &a{0} [*a{1}]\n", i, i - 1);
  CHECK(failure(deep).find("more than 64 levels") != std::string::npos);
  CHECK(failure(std::string((4 << 20) + 1, ' ')) == "4194305 bytes, the limit is 4194304");
}

}  // namespace driftscope::test::yaml_test
