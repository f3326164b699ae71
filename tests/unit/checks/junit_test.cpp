#include <doctest/doctest.h>

#include "core/checks/junit.hpp"
#include "tests/unit/checks/views.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::junit_test {
namespace {

CheckReport checks_on(const ComparisonView& view, const std::string& text) {
  const std::vector<std::string> texts = {text};
  return run_checks(view, *parse_fail_on(texts));
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

const std::vector<float> scores = {0.1f, 0.7f, 0.2f};

}  // namespace

TEST_CASE("Junit_OneSuitePerTarget_OneCasePerCheck") {
  ComparisonView view =
      checked_view(checked_target("pc/strict", Verdict::identical, Verdict::rounding, scores, {2500}),
                   {checked_target("chrome/fast", Verdict::fault, Verdict::identical, scores)});
  view.right.push_back({});
  view.right[1].target = "safari/fast";
  view.right[1].error = missing_error("no browser");
  const std::string xml = junit_xml(checks_on(view, "fault"), view);
  CHECK(holds(xml, "<testsuites name=\"driftscope net.onnx\" tests=\"5\" failures=\"1\" errors=\"1\""));
  CHECK(holds(xml, "<testsuite name=\"chrome/fast\" tests=\"2\" failures=\"1\" errors=\"0\""));
  CHECK(holds(xml, "<failure type=\"fault\" message=\"output conv_out: error is 731"));
  CHECK(holds(xml, "<error type=\"run\" message=\"no browser\""));
  CHECK(holds(xml, "name=\"conv (Conv)\" time=\"0.000002500\"/>"));
  CHECK(times(xml, "<testcase ") == 5);
}

TEST_CASE("Junit_OfAHugeModel_ListsWhatFailedAndCountsTheRest") {
  ComparisonView view =
      checked_view(checked_target("pc/strict", Verdict::identical, Verdict::identical, scores), {});
  auto& layers = view.left.verification->layers;
  layers.assign(100'000, verified_layer("relu", "Relu", Verdict::identical));
  layers.back() = verified_layer("last", "Conv", Verdict::fault);
  const std::string xml = junit_xml(checks_on(view, "fault"), view, 100);
  CHECK(times(xml, "<testcase ") == 102);
  CHECK(holds(xml, "99899 more layers"));
  CHECK(holds(xml, "last (Conv)"));
}

TEST_CASE("XmlEscape_LeavesNothingThatXmlForbids") {
  CHECK(xml_escape("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&apos;");
  CHECK(xml_escape("1\n2\t3\r") == "1&#10;2&#9;3&#13;");
  CHECK(xml_escape(std::string("\0\x1b\x7f", 3)) == "\xef\xbf\xbd\xef\xbf\xbd\x7f");
  CHECK(xml_escape("\xff\xc3") == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(xml_escape("\xef\xbf\xbf") == "\xef\xbf\xbd");
  CHECK(xml_escape("é×✗") == "é×✗");
  CHECK(xml_escape("]]>") == "]]&gt;");
}

}  // namespace driftscope::test::junit_test
