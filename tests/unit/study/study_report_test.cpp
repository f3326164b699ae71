// The page of a study: how it puts claims together.
#include "core/study/study_report.hpp"

#include <doctest/doctest.h>

namespace driftscope::test::study_report_test {
namespace {

std::string body_of(const std::string& html) { return html.substr(html.find("<tbody>")); }

std::size_t times(const std::string& html, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = html.find(text); at != std::string::npos; at = html.find(text, at + 1)) ++count;
  return count;
}

TEST_CASE("StudyReport_ClaimsThatEndAlike_AreOneRowWithAllTargets") {
  StudyTable claims;
  claims.id = "claims";
  claims.columns = {"claim", "model", "target", "here", "evidence"};
  claims.rows = {{{"same answers", "a", "pc/fast", "holds here", "0 of 100"}},
                 {{"same answers", "a", "pc/ort", "holds here", "0 of 100"}},
                 {{"same answers", "a", "chrome/ort", "does not hold here", "2 of 100"}},
                 {{"same answers", "b", "chrome/ort", "not run", ""}},
                 {{"slower", "b", "chrome/ort", "not run", ""}}};
  const std::string html = body_of(study_report(StudyView({}, {}), {claims}));
  CHECK(times(html, "<tr>") == 4);
  CHECK(html.find("<td class=\"text\">pc/fast, pc/ort</td>") != std::string::npos);
  // A claim and a model stand once, beside all their rows.
  CHECK(times(html, "same answers") == 1);
  CHECK(html.find("<td class=\"text long\" rowspan=\"3\">same answers</td>") != std::string::npos);
  CHECK(html.find("<td class=\"text\" rowspan=\"2\">a</td>") != std::string::npos);
  CHECK(times(html, ">b</td>") == 2);  // of two claims
  CHECK(html.find("<td class=\"text fails\">does not hold here</td>") != std::string::npos);
}

}  // namespace
}  // namespace driftscope::test::study_report_test
