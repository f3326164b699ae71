#include "core/attack/robustness.hpp"

#include <doctest/doctest.h>

namespace driftscope::test {
namespace {

AttackRates rates(std::string model, std::string attack, std::vector<double> success) {
  return {std::move(model), std::move(attack), "a.json", {"pc/strict", "chrome/fast"}, std::move(success)};
}

}  // namespace

TEST_CASE("Robustness_OfAttacksAndModels_HasBothFormulas") {
  // The Core ML column of Openja et al.: LeNet-5 and ResNet-18, each before and after conversion.
  const std::vector<AttackRates> all = {
      rates("lenet", "fgsm", {46.11, 90.49}), rates("lenet", "boundary", {100.0, 90.54}),
      rates("resnet", "fgsm", {43.7625, 89.4375}), rates("resnet", "boundary", {99.975, 89.4625})};
  const auto robustness = robustness_of(all);
  REQUIRE_MESSAGE(robustness.ok(), robustness.error().message);
  CHECK(robustness->attacks == std::vector<std::string>{"fgsm", "boundary"});
  REQUIRE(robustness->rows.size() == 4);
  // Success from 43.7625 to 90.49 by FGSM, from 89.4625 to 100 by Boundary.
  CHECK(robustness->rows[0].r == doctest::Approx((46.11 - 43.7625) / (90.49 - 43.7625) + 1.0));
  CHECK(robustness->rows[3].r == doctest::Approx((89.4375 - 43.7625) / (90.49 - 43.7625)));
  CHECK_FALSE(robustness->rows[0].r_conversion);
  // Of two distances the larger counts 1, the smaller 0.
  CHECK(robustness->rows[1].r_conversion == doctest::Approx(0.0));
  CHECK(robustness->rows[3].r_conversion == doctest::Approx(2.0));
}

TEST_CASE("Robustness_OfIncompleteAttacks_IsRefused") {
  const auto message = [](const std::vector<AttackRates>& all) {
    const auto robustness = robustness_of(all);
    return robustness.ok() ? "" : robustness.error().message;
  };
  CHECK(message({rates("a", "fgsm", {0.5, 0.5}), rates("b", "bim", {0.5, 0.5})}).find("bim is missing") !=
        std::string::npos);
  CHECK(message({rates("a", "fgsm", {0.5, 0.5}), rates("a", "fgsm", {0.5, 0.5})}).find("given twice") !=
        std::string::npos);
}

}  // namespace driftscope::test
