#include "native/text/tokenizer.hpp"

#include <doctest/doctest.h>

#include <string>

namespace driftscope {
namespace {

std::vector<std::int64_t> tokens_by(const std::string& json, std::string_view text) {
  const auto tokenizer = Tokenizer::read(json);
  REQUIRE_MESSAGE(tokenizer.ok(), (tokenizer.ok() ? "" : tokenizer.error().message));
  const auto tokens = tokenizer->encode(text);
  REQUIRE_MESSAGE(tokens.ok(), (tokens.ok() ? "" : tokens.error().message));
  return *tokens;
}

std::string refusal(const std::string& json) {
  const auto tokenizer = Tokenizer::read(json);
  return tokenizer.ok() ? std::string("accepted") : tokenizer.error().message;
}

using Tokens = std::vector<std::int64_t>;

TEST_CASE("Bpe_MergesByRankThenFromTheLeft_InBothSpellings") {
  const std::string vocab = R"("vocab": {"a": 0, "b": 1, "aa": 2, "ab": 3, "aaab": 4})";
  CHECK(tokens_by(R"({"model": {"type": "BPE", )" + vocab + R"(, "merges": ["a a", "a b", "aa ab"]}})",
                  "aaab") == Tokens{4});
  CHECK(tokens_by(R"({"model": {"type": "BPE", )" + vocab + R"(, "merges": [["a", "b"], ["a", "a"]]}})",
                  "aaaab") == Tokens{2, 0, 3});
}

TEST_CASE("Bpe_UnknownCharacters_BecomeBytesOrOneUnknownToken") {
  const std::string model =
      R"({"model": {"type": "BPE", "unk_token": "?", "fuse_unk": true, "byte_fallback": true,
    "vocab": {"?": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3}, "merges": []}})";
  CHECK(tokens_by(model, "aéa") == Tokens{1, 2, 3, 1});
  CHECK(tokens_by(model, "xyza") == Tokens{0, 1});
}

TEST_CASE("Unigram_TakesTheLikeliestPieces") {
  const std::string model = R"({"model": {"type": "Unigram", "unk_id": 0,
    "vocab": [["?", 0], ["a", -1], ["b", -1.5], ["ab", -3], ["abb", -3]]}})";
  CHECK(tokens_by(model, "ab") == Tokens{1, 2});
  CHECK(tokens_by(model, "abb") == Tokens{4});
  CHECK(tokens_by(model, "axx") == Tokens{1, 0});
}

TEST_CASE("Precompiled_WrongSizes_AreRefused") {
  const auto file = [](const std::string& map) {
    return R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": ")" + map +
           R"("}, "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "é": 1}}})";
  };
  CHECK(refusal(file("AAAA")).find("precompiled_charsmap") != std::string::npos);
  CHECK(refusal(file("////fwAA")).find("a trie of") != std::string::npos);
  CHECK(refusal(file("A$")).find("expected base64") != std::string::npos);
}

TEST_CASE("Tokenizer_WrongFiles_SayWhereAndWhat") {
  CHECK(refusal("") == "expected JSON, a tokenizer.json of Hugging Face's tokenizers");
  CHECK(refusal("{}").starts_with("model: expected an object"));
  CHECK(refusal(R"({"model": {"type": "Markov", "vocab": {"a": 0}}})") ==
        "model: type 'Markov' is not supported; expected one of BPE, Unigram, WordLevel, WordPiece");
  CHECK(refusal(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []}})")
            .find("same number, 0") != std::string::npos);
  CHECK(refusal(R"({"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}})").find("-1") !=
        std::string::npos);
  CHECK(refusal(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 0.1}})")
            .find("dropout") != std::string::npos);
  CHECK(refusal(R"({"model": {"type": "Unigram", "unk_id": 3, "vocab": [["a", 0]]}})").find("unk_id") !=
        std::string::npos);
}

TEST_CASE("PreTokenizers_Patterns_SplitTheText") {
  const auto words = [](const std::string& pre_tokenizer) {
    return R"({"pre_tokenizer": )" + pre_tokenizer + R"(, "model": {"type": "WordLevel", "unk_token": "?",
      "vocab": {"?": 0, "ab": 1, "cd": 2, "12": 3}}})";
  };
  const std::string numbers =
      R"({"type": "Split", "pattern": {"Regex": "[0-9]+"}, "behavior": "Isolated", "invert": false})";
  CHECK(tokens_by(words(numbers), "ab12cd") == Tokens{1, 3, 2});
  CHECK(tokens_by(words(R"({"type": "Split", "pattern": {"String": "-"}, "behavior": "Removed",
                          "invert": false})"),
                  "ab-cd-12") == Tokens{1, 2, 3});
  CHECK(refusal(words(R"({"type": "Split", "pattern": {"Regex": "(ab"}, "behavior": "Removed",
                        "invert": false})"))
            .find("the regular expression") != std::string::npos);
}

TEST_CASE("PreTokenizers_WhiteSpaceOfUnicode_Divides") {
  const std::string model = R"({"pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": "WordLevel",
    "unk_token": "?", "vocab": {"?": 0, "ab": 1, "cd": 2}}})";
  // Tab, line, next line, no-break, Ogham, em quad to hair space, separators, narrow, mathematical,
  // ideographic.
  for (const char* const space : {"\t", "\n", "\r", " ", "\u0085", "\u00a0", "\u1680", "\u2000", "\u200a",
                                  "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"}) {
    CAPTURE(space);
    CHECK(tokens_by(model, std::string("ab") + space + "cd") == Tokens{1, 2});
  }
  for (const char* const other : {"\u200b", "\u00ad", "_", "\u1681", "\u3001"}) {
    CAPTURE(other);
    CHECK(tokens_by(model, std::string("ab") + other + "cd") == Tokens{0});
  }
}

TEST_CASE("Tokenizer_BytesThatAreNotUtf8_AreRefused") {
  const auto tokenizer = Tokenizer::read(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})");
  REQUIRE(tokenizer.ok());
  CHECK(!tokenizer->encode("a\xff").ok());
  CHECK(tokenizer->encode("")->empty());
  CHECK(*tokenizer->decode(Tokens{0, 99, -1, 0}) == "a a");
}

}  // namespace
}  // namespace driftscope
