// How large the errors of a tensor are and where, in cells.
#include "core/verify/error_map.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

namespace driftscope::test::error_map_test {
namespace {

using Index = std::vector<std::int64_t>;

/// `error_at`: in budgets; up to 1 is right.
std::optional<ErrorMap> map_of(const Shape& shape, const std::function<double(const Index&)>& error_at) {
  std::vector<std::uint8_t> wrong;
  std::vector<double> errors;
  Index index(shape.size());
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    errors.push_back(error_at(index));
    wrong.push_back(errors.back() > 1.0 || std::isnan(errors.back()) ? 1 : 0);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return error_map(wrong, shape, [&](std::size_t i) { return errors[i]; });
}

}  // namespace

TEST_CASE("ErrorMap_ColumnsAndRows_AreTheAxesThatVary") {
  // The last 2 columns of slice 3 of axis 1: of 4 axes these two tell it.
  const auto map = map_of({2, 4, 3, 5}, [](const Index& i) { return i[1] == 3 && i[3] >= 3 ? 50.0 : 0.5; });
  REQUIRE(map);
  CHECK(map->axes == Index{1, 3});
  CHECK(map->sizes == Index{4, 5});
  CHECK(map->cells == std::vector<std::string>{"00000", "00000", "00000", "00022"});
  // Of axes that vary alike the last two.
  const auto all = map_of({2, 2, 3, 2}, [](const Index&) { return 3.0; });
  REQUIRE(all);
  CHECK(all->axes == Index{2, 3});
  CHECK(all->cells == std::vector<std::string>{"11", "11", "11"});
}

TEST_CASE("ErrorMap_Digits_AreThoseOfTheLargestErrorInBudgets") {
  const std::vector<double> errors = {0.5, 1.5, 9.9, 10.5, 99e6, 1e8, HUGE_VAL, std::nan("")};
  const auto map = map_of({8}, [&](const Index& i) { return errors[static_cast<std::size_t>(i[0])]; });
  REQUIRE(map);
  CHECK(map->axes == Index{0});
  CHECK(map->cells == std::vector<std::string>{"01128999"});
}

TEST_CASE("ErrorMap_LargeTensors_AreFewCells") {
  const auto map =
      map_of({1, 90, 1, 100}, [](const Index& i) { return i[1] >= 45 && i[3] == 99 ? 2.0 : 0.0; });
  REQUIRE(map);
  CHECK(map->sizes == Index{90, 100});
  CHECK(map->cells.size() == 40);
  CHECK(map->cells[19] == std::string(40, '0'));
  CHECK(map->cells[20] == std::string(39, '0') + "1");
}

TEST_CASE("ErrorMap_NumbersVectorsAndRightTensors_HaveWhatThereIs") {
  const auto one = map_of({1, 1}, [](const Index&) { return 30.0; });
  REQUIRE(one);
  CHECK(one->axes.empty());
  CHECK(one->cells == std::vector<std::string>{"2"});
  const auto vector = map_of({1, 3, 1, 1}, [](const Index& i) { return i[1] == 1 ? 3.0 : 0.0; });
  REQUIRE(vector);
  CHECK(vector->axes == Index{1});
  CHECK(vector->cells == std::vector<std::string>{"010"});
  CHECK_FALSE(map_of({2, 2}, [](const Index&) { return 0.1; }));
  CHECK_FALSE(map_of({0, 2}, [](const Index&) { return 5.0; }));
}

}  // namespace driftscope::test::error_map_test
