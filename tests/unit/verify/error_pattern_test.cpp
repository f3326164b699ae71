// Where the wrong elements are, in words.
#include "core/verify/error_pattern.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "core/base/rng.hpp"

namespace driftscope::test::error_pattern_test {
namespace {

using Index = std::vector<std::int64_t>;

std::optional<ErrorPattern> pattern(const Shape& shape, const std::function<bool(const Index&)>& is_wrong) {
  std::vector<std::uint8_t> wrong;
  Index index(shape.size());
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    wrong.push_back(is_wrong(index) ? 1 : 0);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return error_pattern(wrong, shape);
}

std::string text(const Shape& shape, const std::function<bool(const Index&)>& is_wrong) {
  const auto found = pattern(shape, is_wrong);
  return found ? found->text : "none";
}

}  // namespace

TEST_CASE("ErrorPattern_Boxes_AreSaidByTheirAxes") {
  const Shape image = {2, 8, 5, 15};
  CHECK(text(image, [](const Index&) { return true; }) == "all elements");
  CHECK(text(image, [](const Index& i) { return i[3] >= 12; }) == "the last 3 columns");
  CHECK(text(image, [](const Index& i) { return i[2] == 0; }) == "the first row");
  CHECK(text(image, [](const Index& i) { return i[1] == 3; }) == "slice 3 of axis 1");
  CHECK(text(image, [](const Index& i) { return i[1] >= 2 && i[1] < 5; }) == "slices 2 to 4 of axis 1");
  CHECK(text(image, [](const Index& i) { return i[3] == 14 && i[2] == 4; }) ==
        "the last column of the last row");
  CHECK(text(image, [](const Index& i) { return i[0] == 1; }) == "the last slice of axis 0");
  CHECK(text({12}, [](const Index& i) { return i[0] >= 8; }) == "the last 4 elements");
}

TEST_CASE("ErrorPattern_LanesAndEdges_AreSaid") {
  CHECK(text({3, 16}, [](const Index& i) { return i[1] % 4 == 3; }) == "every 4th column from 3 on");
  CHECK(text({3, 16}, [](const Index& i) { return i[1] % 2 == 0; }) == "every 2nd column");
  CHECK(text({3, 23}, [](const Index& i) { return i[1] < 2 || i[1] >= 21; }) ==
        "the first 2 columns and the last 2 columns");
  CHECK(text({9, 9}, [](const Index& i) { return i[0] == 0 || i[1] == 0; }) ==
        "all but the last 8 columns of the last 8 rows");
  CHECK(text({3, 7}, [](const Index& i) { return (i[0] * 7 + i[1]) % 4 == 1; }) ==
        "lane 1 of every 4 elements in memory");
  CHECK(text({3, 7}, [](const Index& i) { return i[0] * 7 + i[1] >= 10; }) ==
        "the last 11 elements in memory");
  CHECK(text({40}, [](const Index& i) { return i[0] == 3 || i[0] == 7 || i[0] == 8; }) ==
        "elements 3, 7 and 8");
}

TEST_CASE("ErrorPattern_Tiles_AreTheLargestPowersOfTwo") {
  const auto tile = [](const Shape& shape, const std::function<bool(const Index&)>& is_wrong) {
    return pattern(shape, is_wrong)->tile;
  };
  CHECK(tile({2, 8, 5, 15}, [](const Index& i) { return i[3] >= 12; }) == Index{1, 1, 1, 4});
  CHECK(tile({64, 64}, [](const Index& i) { return i[0] >= 48 && i[1] >= 32; }) == Index{16, 32});
  CHECK(tile({10, 10}, [](const Index& i) { return i[0] == 3; }) == Index{1, 1});
  const auto last = pattern({2, 8, 5, 16}, [](const Index& i) { return i[3] >= 13; });
  CHECK(last->share == doctest::Approx(3.0 / 16.0));
  CHECK(last->block);
  CHECK_FALSE(pattern({3, 16}, [](const Index& i) { return i[1] % 4 == 3; })->block);
}

TEST_CASE("ErrorPattern_ScatteredElements_HaveNone") {
  Rng rng(7);
  CHECK(text({20, 20}, [&](const Index&) { return rng.below(3) == 0; }) == "none");
  CHECK(text({4, 4}, [](const Index&) { return false; }) == "none");
  CHECK(!error_pattern({}, {0, 3}).has_value());
  const std::vector<std::uint8_t> too_few(5, 1);
  CHECK(!error_pattern(too_few, {2, 3}).has_value());
  // One of a block of 48 is right by chance.
  const auto nearly = pattern({8, 24}, [](const Index& i) { return i[0] >= 6 && !(i[0] == 7 && i[1] == 5); });
  REQUIRE(nearly.has_value());
  CHECK(nearly->text == "nearly all elements of the last 2 rows");
  CHECK_FALSE(nearly->exact);
}

}  // namespace driftscope::test::error_pattern_test
