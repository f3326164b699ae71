// Lists that copies share until one of them changes.
#include "core/base/shared_list.hpp"

#include <doctest/doctest.h>

namespace driftscope::test::shared_list_test {

TEST_CASE("SharedList_Copies_ShareItemsUntilOneIsEdited") {
  SharedList<int> first = {1, 2, 3};
  const SharedList<int> second = first;
  CHECK(&first[0] == &second[0]);
  first.edit()[0] = 9;
  CHECK(&first[0] != &second[0]);
  CHECK(first.items() == std::vector<int>{9, 2, 3});
  CHECK(second.items() == std::vector<int>{1, 2, 3});
  // Its own now: not copied again.
  const int* const place = &first[0];
  first.edit()[1] = 8;
  CHECK(&first[0] == place);
  first.clear();
  CHECK(first.empty());
  CHECK(first.begin() == first.end());
  first.push_back(4);
  CHECK(first.items() == std::vector<int>{4});
}

}  // namespace driftscope::test::shared_list_test
