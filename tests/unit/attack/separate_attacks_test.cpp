// Samples that are attacked separately give the same alone and together.
#include "core/attack/separate_attacks.hpp"

#include <doctest/doctest.h>

namespace driftscope::test::separate_attacks_test {
namespace {

/// Class 1 where the mean of the elements is above 0.4, that of the samples is 0.375.
std::int64_t class_of(const std::vector<float>& values) {
  float sum = 0.0f;
  for (const float value : values) sum += value;
  return sum > 0.4f * static_cast<float>(values.size()) ? 1 : 0;
}

std::vector<AttackOutcome> attacked(std::string_view method, std::vector<AttackSample> samples,
                                    std::vector<std::uint64_t> seeds) {
  AttackSettings settings;
  settings.epsilon = 0.1;
  settings.steps = method == "boundary" ? 200 : 16;
  const auto attack = make_separate_attacks(**find_attack_method(method), samples, settings, seeds);
  REQUIRE_MESSAGE(attack.ok(), attack.error().message);
  int questions = 0;
  while (const auto question = (*attack)->next()) {
    REQUIRE(++questions < 10000);
    AttackAnswer answer;
    for (std::size_t k = 0; k < question->values.size(); ++k)
      if (question->asks == AttackAsks::classes)
        answer.classes.push_back(class_of(question->values[k]));
      else
        answer.gradients.emplace_back(question->values[k].size(),
                                      samples[question->samples[k]].label == 0 ? 1.0f : -1.0f);
    REQUIRE((*attack)->take(answer).ok());
  }
  return (*attack)->outcomes();
}

}  // namespace

TEST_CASE("SeparateAttacks_TogetherOrAlone_AreTheSame") {
  std::vector<AttackSample> samples;
  for (int i = 0; i < 5; ++i) {
    AttackSample& one = samples.emplace_back();
    for (int k = 0; k < 16; ++k) one.values.push_back(0.05f * static_cast<float>((3 * i + k) % 16));
    one.label = class_of(one.values);
  }
  for (const char* const method : {"boundary", "single-pixel", "bim"}) {
    CAPTURE(method);
    const auto together = attacked(method, samples, {7, 8, 9, 10, 11});
    REQUIRE(together.size() == samples.size());
    bool any_change = false;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto alone = attacked(method, {samples[i]}, {7 + i});
      CHECK(alone[0].values == together[i].values);
      CHECK(alone[0].success == together[i].success);
      CHECK(alone[0].queries == together[i].queries);
      any_change = any_change || together[i].values != samples[i].values;
    }
    CHECK(any_change);
  }
}

TEST_CASE("SeparateAttacks_SeedsThatDoNotFit_AreRefused") {
  const AttackMethod& method = **find_attack_method("boundary");
  CHECK_FALSE(make_separate_attacks(method, {}, {}, {}).ok());
  const std::uint64_t seeds[] = {1, 2};
  CHECK_FALSE(make_separate_attacks(method, {{{0.5f}, 0}}, {}, seeds).ok());
}

}  // namespace driftscope::test::separate_attacks_test
