#include "native/host/load_request.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace driftscope::test::load_request_test {

TEST_CASE("LoadRequest_Read_GoesOverTheEndsOfItsParts") {
  ModelFile model;
  std::vector<std::byte> all;
  const auto next = [&](std::size_t count) {
    const std::size_t begin = all.size();
    for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<std::byte>(all.size() * 7));
    return std::make_shared<const Bytes>(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end());
  };
  model.bytes = next(100);
  model.attachments = {{"a", next(1)}, {"empty", next(0)}, {"b", next(30)}};
  const LoadRequest request = load_request(model, *parse_target("pc/fast"));
  CHECK(request.head.outside == 131);
  CHECK(request.head.attachments->size() == 3);
  CHECK(request.head.attachments->at(2).bytes == 30);
  for (std::size_t begin = 0; begin <= all.size(); ++begin)
    for (std::size_t count = 0; count <= all.size() - begin; ++count) {
      Bytes part(count);
      request.read(begin, part);
      CHECK(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(begin)));
      // In place where one part holds them.
      const auto there = request.in_place(begin, count, 0);
      const std::size_t end = begin + count;
      const bool in_one = end <= 100 || (begin >= 100 && end <= 101) || (begin >= 101 && end <= 131);
      if (count > 0) CHECK((there != nullptr) == in_one);
      if (there != nullptr) CHECK(std::equal(part.begin(), part.end(), there.get()));
    }
  CHECK(request.in_place(101, 30, 64) == nullptr);  // nobody knows what lies behind bytes in memory
}

}  // namespace driftscope::test::load_request_test
