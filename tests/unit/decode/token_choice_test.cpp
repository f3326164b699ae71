#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/decode/token_choice.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::token_choice_test {
namespace {

std::optional<TokenChoice> chosen(const std::vector<float>& last) {
  std::vector<float> all(last.size(), 100.0f);  // of an earlier position
  all.insert(all.end(), last.begin(), last.end());
  const auto choice = choose_token(tensor<float>({1, 2, static_cast<std::int64_t>(last.size())}, all));
  REQUIRE_MESSAGE(choice.ok(), choice.error().message);
  return *choice;
}

}  // namespace

TEST_CASE("TokenChoice_LastPosition_LargestAndItsLead") {
  const auto choice = chosen({1.0f, 4.0f, -2.0f, 3.5f});
  REQUIRE(choice);
  CHECK(choice->token == 1);
  CHECK(choice->runner_up == 3);
  CHECK(choice->margin == 0.5);
  CHECK(chosen({2.0f, 1.0f})->runner_up == 1);
  CHECK(chosen({1.0f, 2.0f})->runner_up == 0);
}

TEST_CASE("TokenChoice_EqualLogits_FirstWithoutALead") {
  const auto choice = chosen({3.0f, 7.0f, 7.0f});
  REQUIRE(choice);
  CHECK(choice->token == 1);
  CHECK(choice->runner_up == 2);
  CHECK(choice->margin == 0.0);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(chosen({infinity, 1.0f, infinity})->margin == 0.0);
  const auto nothing = chosen({-infinity, -infinity});
  REQUIRE(nothing);
  CHECK(nothing->token == 0);
  CHECK(nothing->runner_up == 1);
  CHECK(nothing->margin == 0.0);
}

TEST_CASE("TokenChoice_NotANumber_ChoosesNone") { CHECK_FALSE(chosen({1.0f, std::nanf(""), 2.0f})); }

TEST_CASE("TokenChoice_OtherShapes_AreErrors") {
  CHECK(!choose_token(tensor<float>({2, 1, 2}, {1, 2, 3, 4})).ok());
  CHECK(!choose_token(tensor<float>({1, 2}, {1, 2})).ok());
  CHECK(!choose_token(tensor<float>({1, 1, 1}, {1})).ok());
  CHECK(!choose_token(tensor<std::int64_t>({1, 1, 2}, {1, 2})).ok());
}

TEST_CASE("TokenChoice_LastPosition_IsKeptAlone") {
  const auto last = last_position(tensor<float>({1, 2, 3}, {9, 8, 7, 1, 2, 5}));
  REQUIRE(last.ok());
  CHECK(last->shape() == Shape{1, 1, 3});
  CHECK(last->values<float>()[0] == 1.0f);
  CHECK(last->values<float>()[2] == 5.0f);
}

TEST_CASE("TokenChoice_Lead_OfTwoTokens") {
  CHECK(logit_lead(tensor<float>({1, 2, 3}, {9, 9, 9, 1, 2, 5}), 2, 0) == 4.0);
}

}  // namespace driftscope::test::token_choice_test
