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
    }
}

}  // namespace driftscope::test::load_request_test
