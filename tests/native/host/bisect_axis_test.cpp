// What bisect varies: levels of each axis, and which of them --levels chooses.
#include "native/host/bisect_axis.hpp"

#include <doctest/doctest.h>

#include <set>

namespace driftscope::test::bisect_axis_test {
namespace {

const std::vector<std::string> all = {"1.0", "1.1", "1.2", "1.3"};

std::vector<std::string> chosen(const std::vector<std::string>& given) {
  const auto made = chosen_levels(all, given, "release");
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  return *made;
}

Result<std::vector<AxisLevel>> levels_on(std::string_view axis, const std::string& target,
                                         const std::vector<std::string>& given = {}) {
  const auto parsed = parse_target(target);
  REQUIRE(parsed.ok());
  const auto engine = find_engine(parsed->engine);
  REQUIRE(engine.ok());
  const BisectAxis* const found = axis_table().find(axis);
  REQUIRE(found != nullptr);
  return found->levels({*parsed, **engine, given});
}

}  // namespace

TEST_CASE("ChosenLevels_NamesAndRanges_AreTakenInTheOrderOfAll") {
  CHECK(chosen({}) == all);
  CHECK(chosen({"1.2", "1.0"}) == std::vector<std::string>{"1.0", "1.2"});
  CHECK(chosen({"1.1..1.2"}) == std::vector<std::string>{"1.1", "1.2"});
  CHECK(chosen({"1.2.."}) == std::vector<std::string>{"1.2", "1.3"});
  CHECK(chosen({"..1.1", "1.3"}) == std::vector<std::string>{"1.0", "1.1", "1.3"});
  const auto unknown = chosen_levels(all, {"2.0"}, "release");
  REQUIRE(!unknown.ok());
  CHECK(unknown.error().message == "--levels 2.0: no release of this name; there are 1.0, 1.1, 1.2, 1.3");
  CHECK(!chosen_levels(all, {"1.2..1.1"}, "release").ok());
}

TEST_CASE("AxisPass_EachLevel_DisablesOnePassLess") {
  const auto levels = levels_on("pass", "pc/ort");
  REQUIRE(levels.ok());
  const std::string option = "optimization.disable_specified_optimizers";
  CHECK(levels->front().name == "none");
  CHECK(levels->back().options.empty());
  std::set<std::string> names;
  for (std::size_t i = 1; i < levels->size(); ++i) {
    CHECK(names.insert((*levels)[i].name).second);
    const std::string before = (*levels)[i - 1].options.at(option) + ";";
    CHECK(before.starts_with((*levels)[i].name + ";"));
  }
  const AxisLevel but_one = axis_table().find("pass")->without(*levels, 3);
  CHECK(but_one.options.at(option) == (*levels)[3].name);
  CHECK(!levels_on("pass", "pc/strict").ok());
}

TEST_CASE("AxisFlags_EachOption_IsVariedAlone") {
  const auto levels = levels_on("flags", "chrome/tfjs-webgl");
  REQUIRE(levels.ok());
  CHECK(levels->front().options.empty());
  for (std::size_t i = 1; i < levels->size(); ++i) CHECK((*levels)[i].options.size() == 1);
  CHECK(levels->size() > 2);
  CHECK(!levels_on("flags", "pc/reference").ok());
}

TEST_CASE("AxisRelease_OfOurOwnEngine_IsAnError") {
  const auto levels = levels_on("release", "pc/strict");
  REQUIRE(!levels.ok());
  CHECK(levels.error().message.find("engine strict has only the release that it was built with") !=
        std::string::npos);
}

TEST_CASE("AxisThreads_AreTwoOrMore_FromOne") {
  const auto levels = levels_on("threads", "pc/ort");
  REQUIRE(levels.ok());
  CHECK(levels->size() >= 2);
  CHECK(levels->front().options.at("threads") == "1");
}

}  // namespace driftscope::test::bisect_axis_test
