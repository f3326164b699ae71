// Blocks of a hunt's cases: every case once, of the target that is least far, by how long they took.
#include "core/hunt/blocks.hpp"

#include <doctest/doctest.h>

#include <set>
#include <utility>

namespace driftscope::test::hunt_blocks_test {

using hunt::Block;
using hunt::Blocks;

namespace {

std::set<std::pair<std::size_t, std::int64_t>> cases_of(Blocks& blocks) {
  std::set<std::pair<std::size_t, std::int64_t>> cases;
  while (const auto block = blocks.next()) {
    CHECK(block->count > 0);
    for (std::int64_t i = 0; i < block->count; ++i)
      CHECK(cases.insert({block->target, block->first + i}).second);
  }
  return cases;
}

}  // namespace

TEST_CASE("HuntBlocks_KnownCases_AreLeftOut") {
  // Those of 0 to 29 that can be divided by 5 are known on target 0, all on target 1.
  const auto known = [](std::size_t target, std::int64_t number) { return target == 1 || number % 5 == 0; };
  Blocks blocks(3, 30, known);
  const auto cases = cases_of(blocks);
  CHECK(cases.size() == 2 * 24);
  for (const auto& [target, number] : cases) CHECK_FALSE(known(target, number));
}

TEST_CASE("HuntBlocks_TargetsInTurn_AreEquallyFar") {
  Blocks blocks(2, std::nullopt, [](auto, auto) { return false; });
  for (int i = 0; i < 6; ++i) {
    const auto block = blocks.next();
    REQUIRE(block);
    CHECK(block->target == static_cast<std::size_t>(i % 2));
  }
}

TEST_CASE("HuntBlocks_TheirTime_DecidesHowLongTheyAre") {
  Blocks blocks(1, std::nullopt, [](auto, auto) { return false; });
  const Block first = *blocks.next();
  blocks.took(first, 0.1);
  const Block longer = *blocks.next();
  CHECK(longer.count > first.count);
  CHECK(longer.first == first.first + first.count);
  blocks.took(longer, 1000.0);
  CHECK(blocks.next()->count == 1);
  for (int i = 0; i < 20; ++i) blocks.took(*blocks.next(), 0.0);
  CHECK(blocks.next()->count == 2000);
}

TEST_CASE("HuntBlocks_TargetThatIsGivenUp_HasNoMore") {
  Blocks blocks(2, 40, [](auto, auto) { return false; });
  REQUIRE(blocks.next()->target == 0);
  blocks.give_up(0);
  for (const auto& [target, number] : cases_of(blocks)) CHECK(target == 1);
}

}  // namespace driftscope::test::hunt_blocks_test
