#include "core/graph/topological_order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "core/base/rng.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test::topological_order_test {
namespace {

using Dependencies = std::vector<std::vector<std::size_t>>;

std::vector<std::string> labels(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("n" + std::to_string(i));
  return names;
}

/// A random graph without cycles: node place[i] needs only nodes placed before it.
Dependencies random_acyclic(Rng& rng, const std::vector<std::size_t>& place) {
  Dependencies needs(place.size());
  for (std::size_t i = 1; i < place.size(); ++i)
    for (std::uint64_t k = rng.below(4); k > 0; --k) needs[place[i]].push_back(place[rng.below(i)]);
  return needs;
}

std::vector<std::size_t> shuffled(Rng& rng, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

}  // namespace

TEST_CASE("TopologicalOrder_AnyAcyclicGraph_PutsEveryNodeAfterItsDependencies") {
  const std::uint64_t seed = test_seed(1);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 1 + rng.below(40);
    const Dependencies needs = random_acyclic(rng, shuffled(rng, count));
    const auto order = topological_order(needs, labels(count));
    REQUIRE(order.ok());
    REQUIRE(order->size() == count);
    std::vector<std::size_t> place(count, count);
    for (std::size_t i = 0; i < count; ++i) place[(*order)[i]] = i;
    for (std::size_t node = 0; node < count; ++node) {
      REQUIRE(place[node] < count);  // there, and once
      for (const std::size_t needed : needs[node]) CHECK(place[needed] < place[node]);
    }
  }
}

TEST_CASE("TopologicalOrder_OrderedGraph_StaysAsItIs") {
  const std::uint64_t seed = test_seed(2);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::size_t> file(1 + rng.below(40));
    std::iota(file.begin(), file.end(), 0);
    const auto order = topological_order(random_acyclic(rng, file), labels(file.size()));
    REQUIRE(order.ok());
    CHECK(*order == file);
  }
}

TEST_CASE("TopologicalOrder_OneEdgeBack_IsFoundAsACycle") {
  const std::uint64_t seed = test_seed(3);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < 100; ++round) {
    const std::size_t count = 2 + rng.below(30);
    const auto place = shuffled(rng, count);
    Dependencies needs = random_acyclic(rng, place);
    const std::size_t early = rng.below(count - 1);
    const std::size_t late = early + 1 + rng.below(count - early - 1);
    needs[place[late]].push_back(place[early]);
    needs[place[early]].push_back(place[late]);
    const auto order = topological_order(needs, labels(count));
    REQUIRE_FALSE(order.ok());
    CHECK(order.error().message.find("cycle") != std::string::npos);
  }
}

TEST_CASE("TopologicalOrder_LongCycle_NamesSomeOfItAndCountsTheRest") {
  Dependencies needs(100);
  for (std::size_t i = 0; i < needs.size(); ++i) needs[i] = {(i + 99) % 100};
  const auto order = topological_order(needs, labels(100));
  REQUIRE_FALSE(order.ok());
  CHECK(order.error().message.find("… 88 more") != std::string::npos);
}

}  // namespace driftscope::test::topological_order_test
