#include "core/checks/junit.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

std::string seconds_text(std::int64_t ns) { return fmt::format("{:.9f}", static_cast<double>(ns) * 1e-9); }

std::string test_case(const CheckCase& one, const std::string& model) {
  std::string xml =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{}\"",
                  xml_escape(model + "." + one.target), xml_escape(one.name), seconds_text(one.time_ns));
  const std::string message = xml_escape(one.message);
  switch (one.outcome) {
    case CheckOutcome::failed:
      return xml + fmt::format("><failure type=\"{0}\" message=\"{1}\">{1}</failure></testcase>\n",
                               xml_escape(one.kind), message);
    case CheckOutcome::error:
      return xml + fmt::format("><error type=\"{0}\" message=\"{1}\">{1}</error></testcase>\n",
                               xml_escape(one.kind), message);
    case CheckOutcome::skipped: return xml + fmt::format("><skipped message=\"{}\"/></testcase>\n", message);
    case CheckOutcome::passed: break;
  }
  if (message.empty()) return xml + "/>\n";
  return xml + fmt::format("><system-out>{}: {}</system-out></testcase>\n", xml_escape(one.kind), message);
}

struct Suite {
  std::string cases;
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
  std::size_t passed = 0;
  std::int64_t time_ns = 0;
};

std::string suite_of(const CheckReport& checks, const std::string& target, const ComparisonView& view,
                     std::size_t max_passed, Suite& suite) {
  const std::string& model = view.model_name;
  std::size_t unlisted = 0;
  for (const CheckCase& one : checks.cases) {
    if (one.target != target) continue;
    suite.time_ns += one.time_ns;
    if (one.outcome == CheckOutcome::passed && one.kind.empty() && ++suite.passed > max_passed) {
      ++unlisted;
      continue;
    }
    ++suite.tests;
    suite.failures += one.outcome == CheckOutcome::failed ? 1 : 0;
    suite.errors += one.outcome == CheckOutcome::error ? 1 : 0;
    suite.skipped += one.outcome == CheckOutcome::skipped ? 1 : 0;
    suite.cases += test_case(one, model);
  }
  if (unlisted > 0) {
    ++suite.tests;
    suite.cases +=
        test_case({target, fmt::format("{} more layers", unlisted), CheckOutcome::passed, "", "", 0}, model);
  }
  return fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">\n"
      "{}{}  </testsuite>\n",
      xml_escape(target), suite.tests, suite.failures, suite.errors, suite.skipped,
      seconds_text(suite.time_ns),
      target == view.left.target
          ? fmt::format("    <properties><property name=\"headline\" value=\"{}\"/></properties>\n",
                        xml_escape(headline(view)))
          : "",
      suite.cases);
}

/// Whether XML 1.0 has this character (section 2.2): no controls but tab and line ends, no U+FFFE, U+FFFF.
bool allowed(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r';
  return sequence != "\xef\xbf\xbe" && sequence != "\xef\xbf\xbf";
}

}  // namespace

std::string xml_escape(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_sequence(text, i);
    const std::string_view sequence = text.substr(i, std::max<std::size_t>(length, 1));
    i += sequence.size();
    if (length == 0 || !allowed(sequence)) {
      escaped += replacement;
      continue;
    }
    switch (sequence[0]) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&apos;"; break;
      case '\n': escaped += "&#10;"; break;
      case '\r': escaped += "&#13;"; break;
      case '\t': escaped += "&#9;"; break;
      default: escaped += sequence;
    }
  }
  return escaped;
}

std::string junit_xml(const CheckReport& checks, const ComparisonView& view, std::size_t max_passed) {
  std::string suites;
  Suite total;
  const auto add = [&](const TargetResult& target) {
    Suite suite;
    suites += suite_of(checks, target.target, view, max_passed, suite);
    total.tests += suite.tests;
    total.failures += suite.failures;
    total.errors += suite.errors;
    total.skipped += suite.skipped;
    total.time_ns += suite.time_ns;
  };
  add(view.left);
  for (const TargetResult& right : view.right)
    if (right.target != view.left.target) add(right);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"driftscope {}\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">\n{}</testsuites>\n",
      xml_escape(view.model_name), total.tests, total.failures, total.errors, total.skipped,
      seconds_text(total.time_ns), suites);
}

}  // namespace driftscope
