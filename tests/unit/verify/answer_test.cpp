// What a model answers, and when two targets answer the same.
#include "core/verify/answer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/base/half.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::answer_test {
namespace {

/// A model whose only node makes the output of this name.
Graph model(const std::string& output, const char* op = "Relu", const std::vector<std::string>& others = {}) {
  ModelBuilder builder;
  builder.input("x", DType::float32, {"N", "M"}).node(op, {"x"}, {output}).output(output);
  for (const std::string& other : others) builder.node("Relu", {"x"}, {other}).output(other);
  return built(builder);
}

Tensor zeros(Shape shape) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return tensor<float>(std::move(shape), std::vector<float>(count));
}

OutputAgreement rows(const std::vector<float>& left, const std::vector<float>& right) {
  const auto count = static_cast<std::int64_t>(left.size()) / 3;
  return answer_agreement(model("y"), tensor<float>({count, 3}, left), tensor<float>({count, 3}, right));
}

}  // namespace

TEST_CASE("Answer_Kinds_FollowTypeShapeNameAndNode") {
  CHECK(answer_kind(model("y"), zeros({1, 10})) == AnswerKind::classes);
  CHECK(answer_kind(model("y"), zeros({1, 10, 1, 1})) == AnswerKind::classes);
  CHECK(answer_kind(model("label"), tensor<std::int64_t>({1}, {3})) == AnswerKind::classes);
  CHECK(answer_kind(model("y"), zeros({1, 1})) == AnswerKind::numbers);
  CHECK(answer_kind(model("sentence_embedding"), zeros({1, 384})) == AnswerKind::numbers);
  CHECK(answer_kind(model("last_hidden_state"), zeros({1, 8, 768})) == AnswerKind::numbers);
  CHECK(answer_kind(model("Logits"), zeros({1, 8, 500})) == AnswerKind::tokens);
  CHECK(answer_kind(model("y", "Softmax"), zeros({1, 8, 500})) == AnswerKind::tokens);
  CHECK(answer_kind(model("ids"), tensor<std::int64_t>({1, 4}, {3, 1, 2, 0})) == AnswerKind::tokens);
  CHECK(answer_kind(model("y"), zeros({1, 3, 8, 8})) == AnswerKind::numbers);  // a picture
  CHECK(answer_kind(model("seg"), zeros({1, 3, 8, 8})) == AnswerKind::map);
  CHECK(answer_kind(model("y", "Softmax"), zeros({1, 3, 8, 8})) == AnswerKind::map);
  CHECK(answer_kind(model("mask"), zeros({1, 1, 8, 8})) == AnswerKind::numbers);
  CHECK(answer_kind(model("scores", "Relu", {"boxes"}), zeros({1, 100})) == AnswerKind::boxes);
}

TEST_CASE("Answer_Ties_AreNoOtherAnswer") {
  CHECK(rows({0.1f, 0.5f, 0.5f}, {0.1f, 0.5f, 0.50000006f}).agree);         // exact on the left
  CHECK(rows({0.1f, 0.5f, 0.50000006f}, {0.1f, 0.5f, 0.5f}).agree);         // on the right
  CHECK(rows({0.1f, 0.5f, 0.50000006f}, {0.1f, 0.50000006f, 0.5f}).agree);  // as near as numbers are
  const OutputAgreement other = rows({0.1f, 0.5f, 0.501f, 1, 0, 0}, {0.1f, 0.501f, 0.5f, 1, 0, 0});
  CHECK_FALSE(other.agree);
  CHECK(other.answers == 2);
  CHECK(other.different == 1);
  CHECK(same_answer(other) == false);
  // float16, whose numbers are further apart.
  const auto halves = [](double a, double b) {
    auto made = Tensor::make(DType::float16, {1, 2});
    REQUIRE(made.ok());
    made->mutable_values<std::uint16_t>()[0] = narrow(float16_format, a);
    made->mutable_values<std::uint16_t>()[1] = narrow(float16_format, b);
    return *std::move(made);
  };
  CHECK(answer_agreement(model("y"), halves(0.5, 0.5005), halves(0.5005, 0.5)).agree);
  CHECK_FALSE(answer_agreement(model("y"), halves(0.5, 0.51), halves(0.51, 0.5)).agree);
}

TEST_CASE("Answer_Numbers_AreNeitherTheSameNorOther") {
  Tensor picture = zeros({1, 3, 4, 4});
  Tensor other = zeros({1, 3, 4, 4});
  picture.mutable_values<float>()[0] = 1.0f;
  other.mutable_values<float>()[1] = 1.0f;
  CHECK_FALSE(same_answer(answer_agreement(model("y"), picture, other)).has_value());
  CHECK_FALSE(same_answer(answer_agreement(model("det", "Relu", {"boxes"}), zeros({1, 5}), zeros({1, 5})))
                  .has_value());
}

// One in a hundred places may fall to the other side of a border.
TEST_CASE("Answer_Map_IsOfClassesAtEachPlace") {
  const Tensor left = zeros({1, 2, 20, 20});
  const auto with = [](std::size_t places) {
    Tensor map = zeros({1, 2, 20, 20});
    for (std::size_t i = 0; i < places; ++i) map.mutable_values<float>()[400 + i] = 1.0f;
    return map;
  };
  Tensor first = zeros({1, 2, 20, 20});
  for (std::size_t i = 0; i < 400; ++i) first.mutable_values<float>()[i] = 0.5f;
  const OutputAgreement few = answer_agreement(model("segmentation"), first, with(4));
  CHECK(few.answers == 400);
  CHECK(few.different == 4);
  CHECK(few.agree);
  CHECK(same_answer(answer_agreement(model("segmentation"), first, with(40))) == false);
  // Channels last, where a Softmax says so.
  const OutputAgreement last =
      answer_agreement(model("y", "Softmax"), zeros({1, 4, 4, 3}), zeros({1, 4, 4, 3}));
  CHECK(last.answers == 16);
}

TEST_CASE("Answer_NaNOnOneSide_IsAnotherAnswer") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(same_answer(rows({nan, nan, nan}, {nan, nan, nan})) == std::nullopt);
  CHECK(same_answer(rows({0, 1, 0}, {nan, nan, nan})) == false);
}

TEST_CASE("Answer_LabelsAndTokens_AreComparedOneByOne") {
  const Tensor left = tensor<std::int64_t>({1, 3}, {5, 6, 7});
  CHECK(same_answer(answer_agreement(model("ids"), left, left)) == true);
  const OutputAgreement other = answer_agreement(model("ids"), left, tensor<std::int64_t>({1, 3}, {5, 6, 8}));
  CHECK(other.kind == AnswerKind::tokens);
  CHECK(other.different == 1);
  CHECK(same_answer(other) == false);
}

}  // namespace driftscope::test::answer_test
