#include "core/dataset/text_preprocess.hpp"

#include <doctest/doctest.h>

#include "tests/unit/support/text.hpp"

namespace driftscope::test::text_preprocess_test {
namespace {

using Words = std::vector<std::string>;

std::string description(const std::string& more = "") {
  return R"({"format":"driftscope-preprocess-1","kind":"text","input":"tokens","length":4,)"
         R"("vocabulary":"words.txt","pad":0)" +
         more + "}";
}

TextPreprocess parsed(const std::string& json) {
  auto how = parse_text_preprocess(json);
  REQUIRE_MESSAGE(how.ok(), how.error().message);
  return *std::move(how);
}

std::string failure(const std::string& json) {
  const auto how = parse_text_preprocess(json);
  REQUIRE_MESSAGE(!how.ok(), "the description was accepted");
  return how.error().message;
}

Words words(const std::string& text, const Words& remove = {}) {
  auto found = words_of(text, remove);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return *std::move(found);
}

Result<Vocabulary> vocabulary_of(const std::string& text) {
  return Vocabulary::read(std::as_bytes(std::span(text)));
}

std::string vocabulary_failure(const std::string& text) {
  const auto vocabulary = vocabulary_of(text);
  REQUIRE_MESSAGE(!vocabulary.ok(), "the vocabulary was accepted");
  return vocabulary.error().message;
}

std::vector<std::int64_t> tokens(const std::string& more, const std::string& text) {
  const auto tensor =
      encode(parsed(description(more)), vocabulary_of("<pad>\n<unk>\ngood\nbad\nfilm\n").value(), text);
  REQUIRE_MESSAGE(tensor.ok(), tensor.error().message);
  CHECK(tensor->shape() == Shape{1, 4});
  const auto values = tensor->values<std::int64_t>();
  return {values.begin(), values.end()};
}

using Tokens = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("ParseTextPreprocess_ReadsEveryField") {
  const TextPreprocess plain = parsed(description());
  CHECK(plain.input == "tokens");
  CHECK(plain.dtype == DType::int64);
  CHECK(plain.length == 4);
  CHECK(plain.vocabulary == "words.txt");
  CHECK(plain.first_index == 0);
  CHECK_FALSE(plain.unknown);
  CHECK(plain.pad_side == Side::right);
  CHECK(plain.keep == Side::left);
  const TextPreprocess full =
      parsed(description(R"(,"dtype":"int32","first_index":3,"unknown":2,"pad_side":"left","keep":"end",)"
                         R"("remove":["<br />"],"labels":["neg","pos"])"));
  CHECK(full.dtype == DType::int32);
  CHECK(full.first_index == 3);
  CHECK(full.unknown == 2);
  CHECK(full.pad_side == Side::left);
  CHECK(full.keep == Side::right);
  CHECK(full.remove == Words{"<br />"});
  CHECK(full.labels == Words{"neg", "pos"});
  CHECK(describes_text(description()));
  CHECK_FALSE(describes_text(R"({"format":"driftscope-preprocess-1"})"));
  CHECK_FALSE(describes_text("text"));
}

TEST_CASE("ParseTextPreprocess_WrongFields_AreNamed") {
  CHECK(holds(failure("{}"), "format is missing"));
  CHECK(holds(failure(description(R"(,"dtype":"float32")")), "dtype is 'float32', expected int64 or int32"));
  CHECK(holds(failure(description(R"(,"length":0)")), "length"));
  CHECK(holds(failure(description(R"(,"length":99999999)")), "length"));
  CHECK(holds(failure(description(R"(,"vocabulary":"")")), "vocabulary does not name a file"));
  CHECK(holds(failure(description(R"(,"pad":null)")), "pad"));
  CHECK(holds(failure(description(R"(,"pad":-1)")), "pad"));
  CHECK(holds(failure(description(R"(,"unknown":1.5)")), "unknown"));
  CHECK(holds(failure(description(R"(,"first_index":9999999999)")), "first_index"));
  CHECK(holds(failure(description(R"(,"pad_side":"both")")), "pad_side is 'both'"));
  CHECK(holds(failure(description(R"(,"keep":3)")), "keep"));
  CHECK(holds(failure(description(R"(,"remove":[""])")), "remove"));
  CHECK(holds(failure(description(R"(,"labels":"pos")")), "labels"));
}

TEST_CASE("WordsOf_LowerCase_LettersDigitsApostrophes") {
  CHECK(words("It's GOOD, isn't it?  10/10!") == Words{"it's", "good", "isn't", "it", "10", "10"});
  CHECK(words("") == Words{});
  CHECK(words("... -- !") == Words{});
  CHECK(words("'quoted' ''twice'' '") == Words{"quoted", "twice"});
  CHECK(words("one<br />two<br>", {"<br />"}) == Words{"one", "two", "br"});
}

TEST_CASE("WordsOf_BeyondAscii_LettersStay_PunctuationSeparates") {
  CHECK(words("Caf\u00e9 na\u00efve \u00c9t\u00e9") == Words{"caf\u00e9", "na\u00efve", "\u00c9t\u00e9"});
  CHECK(words("it\u2019s \u201cgood\u201d\u2014very\u2026good") == Words{"it's", "good", "very", "good"});
  CHECK(words("a\u00a0b\u3000c") == Words{"a", "b", "c"});
  CHECK(words("\U0001f600ok") == Words{"\U0001f600ok"});
  CHECK_FALSE(words_of("caf\xe9", {}).ok());
}

TEST_CASE("Vocabulary_OneWordALine") {
  const auto vocabulary = vocabulary_of("zero\r\none\ntwo");
  REQUIRE(vocabulary.ok());
  CHECK(vocabulary->size() == 3);
  CHECK(vocabulary->find("zero") == 0);
  CHECK(vocabulary->find("two") == 2);
  CHECK_FALSE(vocabulary->find("three"));
  CHECK(holds(vocabulary_failure(""), "contains no words"));
  CHECK(holds(vocabulary_failure("a\n\nb\n"), "line 2 is empty"));
  CHECK(holds(vocabulary_failure("a\nb\na\n"), "'a' occurs twice, again in line 3"));
  CHECK(holds(vocabulary_failure("\xff\n"), "not UTF-8"));
}

TEST_CASE("Encode_PadsAndCutsOnTheSideThatIsSaid") {
  const std::string unknown = R"(,"unknown":1)";
  CHECK(tokens(unknown, "Good film") == Tokens{2, 4, 0, 0});
  CHECK(tokens(unknown + R"(,"pad_side":"left")", "Good film") == Tokens{0, 0, 2, 4});
  CHECK(tokens(unknown, "good bad bad good film") == Tokens{2, 3, 3, 2});
  CHECK(tokens(unknown + R"(,"keep":"end")", "good bad bad good film") == Tokens{3, 3, 2, 4});
  CHECK(tokens(unknown, "") == Tokens{0, 0, 0, 0});
  CHECK(tokens(unknown + R"(,"pad":7,"first_index":10)", "bad") == Tokens{13, 7, 7, 7});
}

TEST_CASE("Encode_WordOutsideTheVocabulary_IsUnknownOrAnError") {
  CHECK(tokens(R"(,"unknown":1)", "good dull film") == Tokens{2, 1, 4, 0});
  const Vocabulary vocabulary = vocabulary_of("good\nfilm\n").value();
  const auto rejected = encode(parsed(description()), vocabulary, "good dull film");
  REQUIRE(!rejected.ok());
  CHECK(holds(rejected.error().message, "word 2 of the text, 'dull', is not in the vocabulary"));
  // Words that are cut away need not be known.
  CHECK(encode(parsed(description()), vocabulary, "good good good film dull").ok());
}

TEST_CASE("Encode_Int32_HoldsTheSameTokens") {
  const auto tensor = encode(parsed(description(R"(,"dtype":"int32","first_index":5)")),
                             vocabulary_of("good\n").value(), "good");
  REQUIRE(tensor.ok());
  CHECK(tensor->values<std::int32_t>()[0] == 5);
}

}  // namespace driftscope::test::text_preprocess_test
