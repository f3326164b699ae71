#include "core/campaign/store_format.hpp"

#include <doctest/doctest.h>

#include "unit/support/text.hpp"

namespace driftscope::test::store_format_test {
namespace {

const CampaignDefinition definition{"conformance", {{"cases", "abc"}, {"seed", 42}}, "build-1"};

std::string header() { return *header_line(definition); }

std::string store_text() {
  return header() + "\n" + *result_line({"pc/strict", "node/a"}, R"({"outcome":"passed"})") + "\n" +
         *result_line({"pc/strict", "node/\"b\""}, R"({"outcome":"failed"})") + "\n";
}

std::string failure(std::string_view text, const CampaignDefinition& wanted = definition) {
  const auto stored = read_store(text, wanted);
  REQUIRE_MESSAGE(!stored.ok(), "the store was accepted");
  return stored.error().message;
}

}  // namespace

TEST_CASE("Store_WhatIsWritten_IsRead") {
  const auto stored = read_store(store_text(), definition);
  REQUIRE_MESSAGE(stored.ok(), stored.error().message);
  CHECK(stored->whole_bytes == store_text().size());
  CHECK(stored->results == CampaignResults{{{"pc/strict", "node/a"}, R"({"outcome":"passed"})"},
                                           {{"pc/strict", "node/\"b\""}, R"({"outcome":"failed"})"}});
}

TEST_CASE("Store_CutAnywhere_KeepsItsWholeLines") {
  const std::string text = store_text();
  const std::size_t header_size = header().size() + 1;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    CAPTURE(size);
    const auto stored = read_store(std::string_view(text).substr(0, size), definition);
    REQUIRE_MESSAGE(stored.ok(), stored.error().message);
    const std::size_t expected = size < header_size ? 0 : text.rfind('\n', size - 1) + 1;
    CHECK(stored->whole_bytes == expected);
  }
}

TEST_CASE("Store_DamagedLine_IsNamedWithWhatToDo") {
  std::string text = store_text();
  text.replace(text.find("\"item\":\"node/a"), 6, "\"ITEM\"");
  CHECK(holds(failure(text), "line 2 is damaged"));
  CHECK(holds(failure(text), "lacks \"target\", \"item\" or \"result\""));
  CHECK(holds(failure(text), "remove this line"));
  CHECK(holds(failure(header() + "\n\n"), "line 2 is damaged: it is not a JSON object"));
  CHECK(holds(failure(header() + "\n" + std::string(100, '[') + "\n"), "not a JSON object"));
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  CHECK(
      holds(failure(header() + "\n" + R"({"target":"t","item":"i","result":)" + deep + "}\n"), "line 2 is"));
  const std::string twice = R"({"target":"t","target":"u","item":"i","result":1})";
  CHECK(holds(failure(header() + "\n" + twice + "\n"), "line 2 is damaged"));
  // Brackets in a text are not deep.
  const std::string text_of_brackets = '"' + std::string(100, '[') + '"';
  CHECK(read_store(header() + "\n" + *result_line({"t", "i"}, text_of_brackets) + "\n", definition).ok());
  const std::string line = *result_line({"t", "i"}, "1") + "\n";
  CHECK(holds(failure(header() + "\n" + line + line), "line 3 is damaged: it repeats the cell"));
}

TEST_CASE("Store_WhatCouldNotBeRead_IsNotWritten") {
  const auto why = [](const Result<std::string>& line) {
    REQUIRE_FALSE(line.ok());
    return line.error().message;
  };
  CHECK(holds(why(result_line({"t", "i"}, std::string(100, '[') + std::string(100, ']'))),
              "the result of 'i' on 't' cannot be kept in a store"));
  CHECK(holds(why(result_line({"t", "i"}, R"({"a": 1})")), "is read differently"));
  CampaignDefinition deep = definition;
  deep.fields["cases"] = nlohmann::json::parse(std::string(100, '[') + std::string(100, ']'));
  CHECK(holds(why(header_line(deep)), "the campaign cannot be kept in a store"));
}

TEST_CASE("Store_PartsOfALine_AreCheckedLikeTheLine") {
  CHECK(check_result({"pc/a", "1"}, "{\"class\":3}").ok());
  CHECK(check_result({"pc/\"a\n", "\xc3\xa4"}, "[1.5,null]").ok());
  for (const std::string result : {"", "{", "1,\"more\":2", "{\"a\":1,\"a\":2}", " 1", "1\n", "\"\xff\""})
    CHECK_FALSE_MESSAGE(check_result({"pc/a", "1"}, result).ok(), result);
  CHECK_FALSE(check_result({"", "1"}, "1").ok());
  CHECK_FALSE(check_result({"pc/a", ""}, "1").ok());
  CHECK_FALSE(check_result({"pc/\xff", "1"}, "1").ok());
  CHECK_FALSE(check_result({"pc/a", "1"}, std::string(100, '[') + std::string(100, ']')).ok());
}

TEST_CASE("Store_OfAnotherCampaign_NamesTheField") {
  CampaignDefinition other = definition;
  other.fields["seed"] = 43;
  CHECK(holds(failure(store_text(), other), "another campaign ('seed': '42' in it, '43' now)"));
  other = definition;
  other.fields["tolerance"] = 0.5;
  CHECK(holds(failure(store_text(), other), "'tolerance': nothing in it, '0.5' now"));
  other = definition;
  other.fields.erase("cases");
  CHECK(holds(failure(store_text(), other), "'cases': '\"abc\"' in it, nothing now"));
  other = definition;
  other.kind = "attack";
  CHECK(holds(failure(store_text(), other), "kind: 'conformance' in it, 'attack' now"));
  other = definition;
  other.build = "build-2";
  CHECK(holds(failure(store_text(), other), "build: 'build-1' in it, 'build-2' now"));
}

TEST_CASE("Store_OtherFiles_AreLeftAsTheyAre") {
  for (const std::string text :
       {"{}\n", "[1]\n", "hello\n", "hello", "{\"format\":\"driftscope-verify-1\"}\n"})
    CHECK(holds(failure(text), "is not the store of a campaign"));
  std::string newer = store_text();
  newer.replace(newer.find("campaign-1"), 10, "campaign-2");
  CHECK(holds(failure(newer),
              "has the format 'driftscope-campaign-2', this version of Driftscope reads "
              "driftscope-campaign-1"));
  std::string changed = store_text();
  changed.replace(changed.find("42"), 2, "43");
  CHECK(holds(failure(changed), "line 1 is damaged"));
}

}  // namespace driftscope::test::store_format_test
