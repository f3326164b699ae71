#include <doctest/doctest.h>

#include "core/runtime/engine.hpp"
#include "core/runtime/target.hpp"

namespace driftscope::test::target_test {
namespace {

std::string error_of(std::string_view text) {
  const auto target = parse_target(text);
  REQUIRE(!target.ok());
  CHECK(target.error().kind == ErrorKind::bad_input);
  return target.error().message;
}

}  // namespace

TEST_CASE("Target_HostEngineOptions_AreReadAndWrittenInOrder") {
  const auto target = parse_target("chrome/strict:threads=2,simd=off");
  REQUIRE(target.ok());
  CHECK(target->host == "chrome");
  CHECK(target->engine == "strict");
  CHECK(target->options.at("threads") == "2");
  CHECK(target->text() == "chrome/strict:simd=off,threads=2");
  CHECK(parse_target("pc/reference")->text() == "pc/reference");
  CHECK(parse_target("remote:lab 7/strict")->host == "remote:lab 7");
  CHECK(parse_target("webdriver:MiniBrowser/strict")->host == "webdriver:MiniBrowser");
}

TEST_CASE("Target_FileHost_TakesTheWholePath") {
  const auto target = parse_target("file/runs/a:b=1,2.safetensors");
  REQUIRE(target.ok());
  CHECK(target->engine == "runs/a:b=1,2.safetensors");
  CHECK(target->options.empty());
  CHECK(target->text() == "file/runs/a:b=1,2.safetensors");
}

TEST_CASE("Target_Malformed_SaysWhatAndHow") {
  for (const char* text : {"", "strict", "Opera/strict", "pc /strict", "pc/", "file/",
                           "pc/strict:", "pc/strict:a", "pc/strict:=1", "pc/strict:a=1,a=2", "pc/strict:a=1,",
                           "remote:/strict", "webdriver:/strict", "pc/a/b"}) {
    CAPTURE(text);
    CHECK(error_of(text).find("HOST/ENGINE") != std::string::npos);
  }
}

// Which hosts there are is known where models run.
TEST_CASE("Target_HostOfAnotherProgram_IsRead") { CHECK(parse_target("opera/strict")->host == "opera"); }

TEST_CASE("Targets_CommasBetweenTargetsAndOptions_AreToldApart") {
  const auto targets = parse_targets("pc/x:k=v,l=w,chrome/y,file/a,b.safetensors,safari/z:u=p/q");
  REQUIRE(targets.ok());
  REQUIRE(targets->size() == 4);
  CHECK((*targets)[0].text() == "pc/x:k=v,l=w");
  CHECK((*targets)[1].text() == "chrome/y");
  CHECK((*targets)[2].text() == "file/a,b.safetensors");
  CHECK((*targets)[3].options.at("u") == "p/q");
  CHECK(!parse_targets("pc/x,,chrome/y").ok());
  CHECK(!parse_targets("").ok());
}

TEST_CASE("FindEngine_UnknownName_ListsThoseOfTheBuild") {
  CHECK(find_engine("reference").ok());
  const auto missing = find_engine("quantum");
  REQUIRE(!missing.ok());
  CHECK(missing.error().message.find("reference") != std::string::npos);
}

}  // namespace driftscope::test::target_test
