#include <doctest/doctest.h>

#include <limits>

#include "core/verify/verify_element.hpp"

namespace driftscope::test::verify_element_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

BudgetUse use(const Bounded& reference, double got, const ErrorModel& model = {}) {
  return verify_element(reference, got, static_cast<double>(static_cast<float>(reference.value)), model);
}

bool is_fault(const BudgetUse& used) { return used.special || used.worst > 1.0; }

}  // namespace

TEST_CASE("Element_ShareOfBothBudgets") {
  const BudgetUse used = use(Bounded(1.0, 0.5, 0.25), 1.125);
  CHECK(used.worst == 0.25);
  CHECK(used.likely == 0.5);
  CHECK(is_fault(use(Bounded(1.0, 0.5, 0.25), 1.75)));
}

TEST_CASE("Element_BudgetZero_AllowsOnlyTheValue") {
  CHECK(use(Bounded(2.0), 2.0).worst == 0.0);
  CHECK(use(Bounded(0.0), -0.0).worst == 0.0);  // zeros of either sign
  CHECK(use(Bounded(2.0), 2.0000002).worst == inf);
  CHECK(is_fault(use(Bounded(0.0), 1e-45)));
}

TEST_CASE("Element_CorrectlyRounded_IsNeverOverBudget") {
  // The value lies between floats, and the bound is tighter than the rounding.
  const double value = 1.0 + 0x1p-25;
  CHECK(use(Bounded(value, 0x1p-40, 0x1p-40), 1.0).worst <= 1.0);
  CHECK(use(Bounded(value), 1.0).worst == 0.0);
}

TEST_CASE("Element_NaNPattern_MustAgree") {
  CHECK(!is_fault(use(Bounded(not_a_number), not_a_number)));
  CHECK(is_fault(use(Bounded(not_a_number), 0.0)));
  CHECK(is_fault(use(Bounded(1.0, 10.0, 10.0), not_a_number)));
  CHECK(!is_fault(use(Bounded(1.0, inf, inf), not_a_number)));  // any result is possible
}

TEST_CASE("Element_Infinity_IsRightOnlyWhereTheValueReachesIt") {
  const double largest = 0x1.fffffep127;
  CHECK(!is_fault(use(Bounded(inf), inf)));
  CHECK(is_fault(use(Bounded(inf), -inf)));
  CHECK(is_fault(use(Bounded(inf), largest)));
  CHECK(is_fault(use(Bounded(1.0, 10.0, 10.0), inf)));
  CHECK(!is_fault(use(Bounded(1e39, 1e32, 1e32), inf)));
  CHECK(is_fault(use(Bounded(1e39, 1e32, 1e32), -inf)));
  CHECK(is_fault(use(Bounded(1e39, 1e32, 1e32), largest)));
  // Just below the threshold: infinite or not, by rounding.
  CHECK(!is_fault(use(Bounded(largest, 0x1p104, 0x1p104), inf)));
  CHECK(is_fault(use(Bounded(largest, 0x1p102, 0x1p102), inf)));
}

TEST_CASE("Element_EngineWithoutSpecials_MayGiveAnythingThere") {
  ErrorModel model;
  model.keeps_specials = false;
  CHECK(!is_fault(use(Bounded(not_a_number), 0.0, model)));
  CHECK(!is_fault(use(Bounded(inf), 3.0, model)));
  CHECK(is_fault(use(Bounded(1.0, 0.1, 0.1), not_a_number, model)));
}

}  // namespace driftscope::test::verify_element_test
