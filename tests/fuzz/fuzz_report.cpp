// Any bytes as a stored comparison, made a report, a table, JUnit and annotations: none of the text
// inside becomes markup, a command or a control character.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/checks/annotations.hpp"
#include "core/checks/checks.hpp"
#include "core/checks/fail_on.hpp"
#include "core/checks/junit.hpp"
#include "core/report/report.hpp"
#include "core/report/tables.hpp"
#include "core/results/comparison_reader.hpp"
#include "core/results/view_json.hpp"

namespace {

using namespace driftscope;

// A report has none of these tags; in Markdown a backslash makes one text.
void expect_no_foreign_tags(std::string_view text) {
  for (const std::string_view foreign :
       {"<script", "<img", "<iframe", "<object", "<embed", "<link", "<base", "<form"})
    for (std::size_t at = 0; (at = text.find(foreign, at)) != std::string_view::npos; ++at)
      if (at == 0 || text[at - 1] != '\\') std::abort();
}

// What was read of any bytes is written, and that is read and written the same.
void expect_written_the_same(const ComparisonView& view) {
  const std::string written = view_json(view);
  const auto again = read_comparison(written);
  if (!again.ok() || view_json(*again) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto read = read_comparison(text);
  if (!read.ok()) return 0;
  ComparisonView view = *std::move(read);
  expect_written_the_same(view);
  view.model_name = "<img src=x onerror=alert(1)>.onnx";
  expect_no_foreign_tags(comparison_report(view));
  (void)headline(view);
  (void)compare_table(view, {.all = true});
  (void)dataset_table(view);
  const auto conditions = parse_fail_on(std::vector<std::string>{"unjudged,top1,unrepeatable,growing"});
  if (!conditions.ok()) std::abort();
  const CheckReport checks = run_checks(view, *conditions);
  const std::string xml = junit_xml(checks, view);
  for (const char byte : xml)  // XML 1.0 has no other control characters
    if (static_cast<unsigned char>(byte) < 0x20 && byte != '\n' && byte != '\t' && byte != '\r') std::abort();
  (void)checks_text(checks);
  (void)checks_json(checks);
  (void)github_annotations(checks, view.model_name);
  expect_no_foreign_tags(github_summary(checks, view));
  return 0;
}
