#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/checks/fail_on.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::fail_on_test {
namespace {

Result<FailOn> parse(const std::vector<std::string>& texts) { return parse_fail_on(texts); }

}  // namespace

TEST_CASE("FailOn_ListsAndCombinations_AreRead") {
  const auto all = parse({"fault|suspect", "top1,slower:20%", "bits"});
  REQUIRE_MESSAGE(all.ok(), all.error().message);
  CHECK(all->fault);
  CHECK(all->suspect);
  CHECK(all->top1);
  CHECK(all->bits);
  CHECK(all->slower == doctest::Approx(0.2));
  CHECK(fail_on_text(*all) == "fault,suspect,top1,bits,slower:20%");
  const auto one = parse({"top1"});
  REQUIRE(one.ok());
  CHECK(one->top1);
  CHECK(!one->fault);
  CHECK(!one->counts_faults());
  CHECK(!one->slower);
  CHECK(parse({"nonfinite"})->nonfinite);
  CHECK(parse({"overflow"})->overflow);
  CHECK(fail_on_text(*parse({"overflow"})) == "overflow");
  CHECK(fail_on_text(*parse({"bits,nonfinite"})) == "nonfinite,bits");
  CHECK(parse({"suspect"})->counts_faults());
  CHECK(parse({"slower:7.5"})->slower == doctest::Approx(0.075));
  CHECK(parse({"slower:0%"})->slower == doctest::Approx(0.0));
}

TEST_CASE("FailOn_AnythingElse_IsAnErrorThatListsWhatThereIs") {
  for (const char* text : {"", "faults", "fault,", ",fault", "slower", "slower:", "slower:%", "slower:-5%",
                           "slower:1e3%", "slower:20%%", "slower:nan", "slower:1.2.3%", "slower:.",
                           "slower:10001%", "slower:00000000000000001%", "fault top1", "\x1b[2J"}) {
    CAPTURE(text);
    const auto parsed = parse({text});
    REQUIRE(!parsed.ok());
    CHECK(parsed.error().kind == ErrorKind::bad_input);
    CHECK(holds(parsed.error().message, "slower:20%"));
    CHECK(!holds(parsed.error().message, "\x1b"));
  }
  CHECK(!parse({}).ok());
}

}  // namespace driftscope::test::fail_on_test
