// The search for inputs: what is new makes a parent, what is not does not.
#include "core/hunt/input_search.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/model/tensor_elements.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::hunt_input_search_test {
namespace {

using hunt::InputSearch;
using hunt::NumericStates;
using hunt::SearchedInput;

NamedInputs some_inputs() {
  return {{"x", tensor<float>({1, 4}, {0.5f, -1, 2, 3})}, {"ids", tensor<std::int64_t>({3}, {4, 5, 6})}};
}

NumericStates states(const std::vector<float>& values) {
  Trace trace;
  trace.tensors = {{"y", tensor<float>({1, std::ssize(values)}, values)}};
  return hunt::states_of(trace);
}

}  // namespace

TEST_CASE("HuntInputSearch_States_TellMagnitudesZerosAndNaN") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(states({1, 2, 3}) == states({1.5f, 2.5f, 3}));
  CHECK(states({1, 2, 3}) != states({3, 2, 1}));  // another class
  CHECK(states({1, 2, 3}) != states({1, 2, 3000}));
  CHECK(states({1, 2, 3}).size() + 1 == states({1, 0, 3}).size());
  CHECK(states({1, 2, 3}).size() + 1 == states({1, infinity, 3}).size() + 0);
  CHECK(states({1e-40f, 2, 3}) != states({1, 2, 3}));
  CHECK(states({std::nanf(""), 2, 3}) != states({1, 2, 3}));
}

TEST_CASE("HuntInputSearch_NewStates_MakeAParent") {
  InputSearch search(some_inputs(), 3);
  const SearchedInput first = search.next();
  CHECK(first.text == "the input as it was given");
  search.take(first, states({1, 2}));
  CHECK(search.parents() == 1);
  const SearchedInput second = search.next();
  search.take(second, states({1, 2}));
  CHECK(search.parents() == 1);
  search.take(search.next(), states({1, 2000}));
  CHECK(search.parents() == 2);
  CHECK(search.covered() > 0);
}

TEST_CASE("HuntInputSearch_Changes_KeepTypesShapesAndWholeNumbers") {
  const std::uint64_t seed = test_seed(12);
  SEED_INFO(seed);
  InputSearch search(some_inputs(), seed), same(some_inputs(), seed);
  int changed = 0;
  for (int i = 0; i < 300; ++i) {
    const SearchedInput input = search.next(), again = same.next();
    REQUIRE(input.tensors.size() == 2);
    CHECK(input.text == again.text);
    for (std::size_t t = 0; t < 2; ++t) {
      const Tensor& tensor = input.tensors[t].tensor;
      CHECK(std::ranges::equal(tensor.bytes(), again.tensors[t].tensor.bytes()));
      CHECK(tensor.shape() == some_inputs()[t].tensor.shape());
      CHECK(tensor.dtype() == some_inputs()[t].tensor.dtype());
    }
    double sum = 0.0;
    for (const double id : numbers_of(input.tensors[1].tensor)) sum += id;
    CHECK(sum == 15.0);  // only their places change
    const auto x = numbers_of(input.tensors[0].tensor), given = numbers_of(some_inputs()[0].tensor);
    changed += x != given ? 1 : 0;
    search.take(input, {{"y", i}});
    same.take(again, {{"y", i}});
  }
  CHECK(changed > 100);
  CHECK(search.parents() > 100);
  const auto given = numbers_of(some_inputs()[0].tensor);
  CHECK(given == std::vector<double>{0.5, -1, 2, 3});  // parents are not written over
}

}  // namespace driftscope::test::hunt_input_search_test
