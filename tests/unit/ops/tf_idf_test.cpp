// TfIdfVectorizer's limits and modes, beside ONNX's own cases.
#include <doctest/doctest.h>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::tf_idf_test {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// One-grams 5 and 6, in columns 0 and 1, with weights 2 and 3.
OneNode vectorizer(const std::string& mode, std::vector<Attribute> more = {}) {
  OneNode node{"TfIdfVectorizer",
               {longs({5, 6, 5, 7})},
               {text("mode", mode), integer("min_gram_length", 1), integer("max_gram_length", 1),
                integer("max_skip_count", 0), ints("pool_int64s", {5, 6}), ints("ngram_counts", {0}),
                ints("ngram_indexes", {0, 1}), reals("weights", {2.0f, 3.0f})}};
  for (Attribute& one : more) {
    std::erase_if(node.attributes, [&](const Attribute& old) { return old.name == one.name; });
    node.attributes.push_back(std::move(one));
  }
  return node;
}

}  // namespace

TEST_CASE("TfIdf_Modes_CountAndWeigh") {
  CHECK(vectorizer("TF").numbers() == std::vector<double>{2, 1});
  CHECK(vectorizer("IDF").numbers() == std::vector<double>{2, 3});
  CHECK(vectorizer("TFIDF").numbers() == std::vector<double>{4, 3});
  for (const char* mode : {"", "tf", "IDFTF"})
    CHECK(contains(vectorizer(mode).error().message, "expected TF, IDF or TFIDF"));
}

TEST_CASE("TfIdf_LengthsAndColumns_AreChecked") {
  CHECK(contains(vectorizer("TF", {integer("min_gram_length", 0)}).error().message, "from 0 to 1"));
  CHECK(contains(vectorizer("TF", {integer("min_gram_length", 2)}).error().message, "from 2 to 1"));
  CHECK(contains(vectorizer("TF", {integer("max_skip_count", -1)}).error().message, "up to -1 skips"));
  CHECK(contains(vectorizer("TF", {ints("ngram_indexes", {0})}).error().message, "ngram_indexes"));
  CHECK(contains(vectorizer("TF", {reals("weights", {1.0f})}).error().message, "weights"));
  CHECK(vectorizer("TF", {integer("max_skip_count", 1 << 20)}).numbers() == std::vector<double>{2, 1});
}

}  // namespace driftscope::test::tf_idf_test
