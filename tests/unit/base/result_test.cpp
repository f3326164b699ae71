// A Result holds a value or an error, whatever it is moved from, copied to or assigned over.
#include "core/base/result.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

namespace driftscope::test::result_test {
namespace {

using Numbers = std::vector<int>;

Result<Numbers> numbers(bool good) {
  if (!good) return bad_input("no numbers");
  return Numbers{1, 2, 3};
}

Result<std::size_t> count(bool good) {
  DRIFTSCOPE_TRY(const Numbers all, numbers(good));
  return all.size();
}

Status check(bool good) {
  DRIFTSCOPE_CHECK(count(good));
  return {};
}

// Counts its live instances.
struct Counted {
  explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
  Counted(const Counted& other) : alive_(other.alive_) { ++*alive_; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --*alive_; }

 private:
  int* alive_;
};

}  // namespace

TEST_CASE("Result_HandsValuesAndErrorsThroughTheMacros") {
  CHECK(*count(true) == 3);
  CHECK(check(true).ok());
  const auto missing = count(false);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().kind == ErrorKind::bad_input);
  CHECK(missing.error().message == "no numbers");
  CHECK(check(false).error().message == "no numbers");
}

TEST_CASE("Result_CopiesAreTheirOwn") {
  Result<Numbers> value = numbers(true);
  Result<Numbers> copy = value;
  copy->push_back(4);
  CHECK(value->size() == 3);
  Result<Numbers> error = numbers(false);
  Result<Numbers> same = error;
  std::move(same).error().message += "!";
  CHECK(error.error().message == "no numbers");
  CHECK(same.error().message == "no numbers!");
}

TEST_CASE("Result_IsAssignedAcrossValueAndError") {
  Result<Numbers> result = numbers(true);
  result = numbers(false);
  CHECK(result.error().message == "no numbers");
  result = numbers(true);
  CHECK(result->size() == 3);
  const Result<Numbers>& self = result;
  result = self;
  CHECK(result->size() == 3);
  Status status = check(false);
  const Status kept = status;
  status = check(true);
  CHECK(status.ok());
  CHECK_FALSE(kept.ok());
}

TEST_CASE("Result_HandedOnKeepsItsState") {
  Result<Numbers> error = numbers(false);
  const Result<Numbers> next = std::move(error);
  CHECK_FALSE(error.ok());  // moved from, and still no value
  CHECK(next.error().message == "no numbers");
  Result<std::unique_ptr<int>> owner = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = *std::move(owner);
  CHECK(*taken == 7);
  CHECK_FALSE(static_cast<bool>(numbers(true).held()));  // a value has no error to pass on
}

TEST_CASE("Result_DestroysItsValueOnce") {
  int alive = 0;
  {
    Result<Counted> one = Counted(alive);
    Result<Counted> two = one;
    CHECK(alive == 2);
    two = bad_input("gone");
    CHECK(alive == 1);
    one = std::move(two);
    CHECK(alive == 0);
  }
  CHECK(alive == 0);
}

}  // namespace driftscope::test::result_test
