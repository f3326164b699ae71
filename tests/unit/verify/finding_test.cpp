// Findings are data; their sentences are made last, from whatever a document has kept of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/base/json.hpp"
#include "core/base/json_put.hpp"
#include "core/results/finding_json.hpp"
#include "core/verify/finding.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::test::finding_test {
namespace {

std::vector<std::string> all_ids() {
  std::vector<std::string> ids;
  for (const FindingKind& kind : finding_table().kinds()) ids.emplace_back(kind.id);
  for (const Variant& variant : variant_table().all())
    ids.push_back(std::string(variant.family) + "." + std::string(variant.id));
  return ids;
}

Result<std::vector<Finding>> read_findings(std::string_view text) {
  std::vector<Finding> findings;
  DRIFTSCOPE_CHECK(read_json(parse_ordered_json(text), JsonPath("findings"), findings));
  return findings;
}

}  // namespace

TEST_CASE("Finding_Ids_AreUniqueAndHaveAFamily") {
  std::set<std::string> seen;
  for (const std::string& id : all_ids()) {
    CAPTURE(id);
    CHECK(seen.insert(id).second);
    const Finding finding{.id = id};
    CHECK(!finding.family().empty());
    CHECK(!finding.name().empty());
    CHECK(std::string(finding.family()) + "." + std::string(finding.name()) == id);
  }
}

// Stored ones may lack everything.
TEST_CASE("Finding_WithoutItsNumbers_StillReads") {
  for (const std::string& id : all_ids()) {
    CAPTURE(id);
    const std::string text = finding_text({.id = id});
    const bool of_a_judge =
        std::ranges::any_of(finding_table().kinds(), [&](const auto& kind) { return kind.id == id; });
    const bool only_a_word = id == "reference.none" || id == "budget.inconclusive" || !of_a_judge;
    CHECK(text.empty() == only_a_word);
  }
  CHECK(finding_text({.id = "no.such"}).empty());
  CHECK(Finding{.id = "nothing"}.name() == "nothing");
}

TEST_CASE("Finding_Sentences_AreJoinedInOrder") {
  const std::vector<Finding> findings = {
      {.id = "values.special", .numbers = {{"elements", 3}}, .elements = {{0, 2}}},
      {.id = "a.later", .words = {{"text", "kept as it was"}}},
      {.id = "says.nothing"},
      {.id = "range.overflow", .words = {{"certainty", "certain"}}},
  };
  CHECK(findings_text(findings) ==
        "NaN or infinity where the other has none in 3 elements, first at [0,2]; kept as it was; an "
        "intermediate result leaves the range of its type, the exact result does not");
}

TEST_CASE("Finding_WrittenAndRead_IsTheSame") {
  const std::vector<Finding> findings = {
      {.id = "precision.rounded_inputs",
       .numbers = {{"correlation", 0.998}, {"elements", 256}},
       .words = {{"format", "10 bits (TF32)"}, {"which", "inputs"}}},
      {.id = "values.special", .numbers = {{"elements", 1}}, .elements = {{0, 1, 2}, {3, 4, 5}}},
  };
  const auto read = read_findings(encode(findings).dump());
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(findings_text(*read) == findings_text(findings));
  CHECK(encode(*read) == encode(findings));
  CHECK((*read)[1].elements == findings[1].elements);
  // Of a later version: its sentence is kept.
  const auto later = read_findings(R"([{"id":"a.new","text":"something new"}])");
  REQUIRE(later.ok());
  CHECK(findings_text(*later) == "something new");
  CHECK(encode(*later)[0]["text"] == "something new");
}

TEST_CASE("Finding_MalformedDocuments_AreRefused") {
  for (const auto& [text, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({})", "findings: expected a list, got an object"},
           {R"([1])", "findings[0]: expected an object, got 1"},
           {R"([{}])", "findings[0]: \"id\" is missing"},
           {R"([{"id":1}])", "findings[0].id: expected a string, got 1"},
           {R"([{"id":"a.b","numbers":{"n":"x"}}])",
            "findings[0].numbers.n: expected a number or null, got 'x'"},
           {R"([{"id":"a.b","words":[]}])", "findings[0].words: expected an object, got a list"},
           {R"([{"id":"a.b","elements":[1]}])", "findings[0].elements[0]: expected a list, got 1"},
           {R"([{"id":"a.b","elements":[["x"]]}])",
            "findings[0].elements[0][0]: expected a whole number of 64 bits, got 'x'"}}) {
    CAPTURE(text);
    const auto read = read_findings(text);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message == message);
  }
}

TEST_CASE("Verdict_Names_AreReadBack") {
  for (const VerdictRow& row : verdict_rows) CHECK(verdict_named(row.name) == row.verdict);
  CHECK(!verdict_named("Fault"));
  CHECK(worse_of(Verdict::missing, Verdict::identical) == Verdict::identical);
  CHECK(worse_of(Verdict::fault, Verdict::missing) == Verdict::fault);
  CHECK(worse_of(Verdict::suspect, Verdict::unjudged) == Verdict::suspect);
  CHECK(!is_bad(Verdict::missing));
  CHECK(!is_bad(Verdict::unjudged));
  CHECK(is_bad(Verdict::suspect));
}

}  // namespace driftscope::test::finding_test
