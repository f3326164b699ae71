// Chromium is never started without its sandbox unless that was requested.
#include "native/browser/chromium_sandbox.hpp"

#include <doctest/doctest.h>

#include "tests/unit/support/text.hpp"

namespace driftscope::test::chromium_sandbox_test {

TEST_CASE("ChromiumSandbox_WhereItWorks_StaysOn") {
  for (const bool root : {false, true})
    for (const char* setting : {"", "if-possible"}) {
      const auto arguments = sandbox_arguments("", root, setting);
      REQUIRE(arguments.ok());
      CHECK(arguments->empty());
    }
}

TEST_CASE("ChromiumSandbox_WhereItDoesNot_IsLeftOutOnlyWhenAsked") {
  const auto refused = sandbox_arguments("no user namespaces", false, "");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == ErrorKind::missing);
  CHECK(holds(refused.error().message, "no user namespaces"));
  CHECK(holds(refused.error().message, "DRIFTSCOPE_SANDBOX=if-possible"));
  CHECK_FALSE(sandbox_arguments("no user namespaces", false, "required").ok());
  const std::vector<std::string> without = {"--no-sandbox"};
  const auto asked = sandbox_arguments("no user namespaces", false, "if-possible");
  REQUIRE(asked.ok());
  CHECK(*asked == without);
  const auto root = sandbox_arguments("it does not work as root", true, "");
  REQUIRE(root.ok());
  CHECK(*root == without);
  const auto required = sandbox_arguments("it does not work as root", true, "required");
  REQUIRE_FALSE(required.ok());
  CHECK(holds(required.error().message, "Run as another user"));
}

TEST_CASE("ChromiumSandbox_SettingThatIsNone_IsRefused") {
  for (const bool root : {false, true})
    for (const char* setting : {"require", "Required", "1"}) {
      const auto refused = sandbox_arguments(root ? "it does not work as root" : "", root, setting);
      REQUIRE_FALSE(refused.ok());
      CHECK(holds(refused.error().message, "expected required or if-possible"));
    }
}

}  // namespace driftscope::test::chromium_sandbox_test
