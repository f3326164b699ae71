// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/error_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope {
namespace {

/// Some of the indices 0 … size − 1.
struct IndexSet {
  std::vector<std::uint8_t> holds;
  std::int64_t count = 0;

  explicit IndexSet(std::int64_t size) : holds(static_cast<std::size_t>(size)) {}
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(holds.size()); }
  [[nodiscard]] bool has(std::int64_t i) const { return holds[static_cast<std::size_t>(i)] != 0; }
  [[nodiscard]] bool all() const { return count == size(); }
  void add(std::int64_t i) {
    std::uint8_t& at = holds[static_cast<std::size_t>(i)];
    count += at == 0 ? 1 : 0;
    at = 1;
  }
};

/// The indices of the elements that are `which`, along each axis.
std::vector<IndexSet> projections(std::span<const std::uint8_t> wrong, bool which, const Shape& shape) {
  std::vector<IndexSet> sets;
  for (const std::int64_t size : shape) sets.emplace_back(size);
  std::vector<std::int64_t> index(shape.size());
  for (const std::uint8_t one : wrong) {
    if ((one != 0) == which)
      for (std::size_t axis = 0; axis < sets.size(); ++axis) sets[axis].add(index[axis]);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return sets;
}

std::int64_t product(const std::vector<IndexSet>& sets) {
  std::int64_t count = 1;
  for (const IndexSet& set : sets) count *= set.count;
  return count;
}

std::int64_t first_of(const IndexSet& set) { return std::ranges::find(set.holds, 1) - set.holds.begin(); }

std::int64_t last_of(const IndexSet& set) {
  return set.size() - 1 - (std::find(set.holds.rbegin(), set.holds.rend(), 1) - set.holds.rbegin());
}

bool is_run(const IndexSet& set) { return set.count == last_of(set) - first_of(set) + 1; }

/// The step of indices that are equally far apart up to the end; 0 where they are not.
std::int64_t step_of(const IndexSet& set) {
  std::int64_t step = 0;
  std::int64_t before = -1;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    if (!set.has(i)) continue;
    if (before >= 0 && step != 0 && i - before != step) return 0;
    if (before >= 0) step = i - before;
    before = i;
  }
  const bool from_start = step > 0 && first_of(set) < step;
  return from_start && set.size() - before <= step ? step : 0;
}

std::string ordinal(std::int64_t n) {
  const std::int64_t teens = n % 100;
  const bool plain = teens < 11 || teens > 13;
  return fmt::format("{}{}", n,
                     plain && n % 10 == 1   ? "st"
                     : plain && n % 10 == 2 ? "nd"
                     : plain && n % 10 == 3 ? "rd"
                                            : "th");
}

/// What the indices of an axis are called.
struct Name {
  std::string one;
  std::string of = {};  ///< " of axis 1"

  [[nodiscard]] std::string some(std::int64_t count) const { return count == 1 ? one : one + "s"; }
};

std::string several(std::string_view which, std::int64_t count, const Name& name) {
  return count == 1 ? fmt::format("the {} {}", which, name.one)
                    : fmt::format("the {} {} {}", which, count, name.some(count));
}

/// "the last 3 columns", "every 4th slice of axis 1 from 3 on"
std::string set_text(const IndexSet& set, const Name& name) {
  const std::int64_t first = first_of(set);
  const std::int64_t last = last_of(set);
  const std::int64_t size = set.size();
  if (is_run(set)) {
    if (first == 0) return several("first", set.count, name) + name.of;
    if (last == size - 1) return several("last", set.count, name) + name.of;
    if (first == last) return fmt::format("{} {}{}", name.one, first, name.of);
    return fmt::format("{} {} to {}{}", name.some(2), first, last, name.of);
  }
  if (const std::int64_t step = step_of(set); step > 1 && set.count > 2)
    return fmt::format("every {} {}{}{}", ordinal(step), name.one, name.of,
                       first == 0 ? "" : fmt::format(" from {} on", first));
  const std::int64_t head = std::ranges::find(set.holds, 0) - set.holds.begin();
  const std::int64_t tail = std::find(set.holds.rbegin(), set.holds.rend(), 0) - set.holds.rbegin();
  if (head > 0 && head + tail == set.count)
    return several("first", head, name) + " and " + several("last", tail, name) + name.of;
  if (set.count > 6) return fmt::format("{} of {} {}{}", set.count, size, name.some(size), name.of);
  std::string text = name.some(2);
  for (std::int64_t i = 0; i < size; ++i)
    if (set.has(i)) text += fmt::format("{} {}", i == first ? "" : i == last ? " and" : ",", i);
  return text + name.of;
}

Name axis_name(std::size_t axis, std::size_t rank) {
  if (rank == 1) return {"element"};
  if (axis + 1 == rank) return {"column"};
  if (axis + 2 == rank) return {"row"};
  return {"slice", fmt::format(" of axis {}", axis)};
}

/// Of axes that are not whole: "the last row, in channel 3".
std::string box_text(const std::vector<IndexSet>& sets) {
  std::string text;
  for (std::size_t axis = sets.size(); axis-- > 0;)
    if (!sets[axis].all())
      text += (text.empty() ? "" : " of ") + set_text(sets[axis], axis_name(axis, sets.size()));
  return text;
}

std::int64_t tile_of(const IndexSet& set) {
  if (set.all()) return 1;
  std::int64_t tile = 1;
  const auto whole_blocks = [&](std::int64_t block) {
    for (std::int64_t i = 0; i < set.size(); ++i)
      if (set.has(i) != set.has(i / block * block)) return false;
    return true;
  };
  while (tile * 2 < set.size() && whole_blocks(tile * 2)) tile *= 2;
  return tile;
}

std::vector<std::int64_t> tiles_of(const std::vector<IndexSet>& sets) {
  std::vector<std::int64_t> tile;
  for (const IndexSet& set : sets) tile.push_back(tile_of(set));
  return tile;
}

/// One run of elements in memory, or the same lanes of every few elements.
bool set_memory_text(std::span<const std::uint8_t> wrong, std::int64_t count, ErrorPattern& pattern) {
  const auto size = static_cast<std::int64_t>(wrong.size());
  IndexSet flat(size);
  for (std::int64_t i = 0; i < size; ++i)
    if (wrong[static_cast<std::size_t>(i)] != 0) flat.add(i);
  if (is_run(flat)) {
    pattern.text = set_text(flat, {"element"}) + " in memory";
    pattern.block = true;
    return true;
  }
  for (const std::int64_t lanes : {2, 3, 4, 8, 16, 32, 64}) {
    if (lanes * 2 > size) break;
    IndexSet at(lanes);
    for (std::int64_t i = 0; i < size; ++i)
      if (flat.has(i)) at.add(i % lanes);
    std::int64_t expected = 0;
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      if (at.has(lane)) expected += (size - lane + lanes - 1) / lanes;
    if (at.all() || expected != count) continue;
    pattern.text = fmt::format("{} of every {} elements in memory", set_text(at, {"lane"}), lanes);
    return true;
  }
  return false;
}

}  // namespace

std::optional<ErrorPattern> error_pattern(std::span<const std::uint8_t> wrong, const Shape& shape) {
  const auto size = static_cast<std::int64_t>(wrong.size());
  const auto count = size - std::ranges::count(wrong, std::uint8_t{0});
  if (count == 0 || size != element_count(shape)) return std::nullopt;
  ErrorPattern pattern{.share = static_cast<double>(count) / static_cast<double>(size)};
  if (count == size) {
    pattern.text = "all elements";
    pattern.tile.assign(shape.size(), 1);
    pattern.block = true;
    return pattern;
  }
  const std::vector<IndexSet> sets = projections(wrong, true, shape);
  const std::int64_t box = product(sets);
  if (box == count) {
    pattern.text = box_text(sets);
    pattern.tile = tiles_of(sets);
    pattern.block = std::ranges::all_of(sets, is_run);
    return pattern;
  }
  // A hundredth that is right is so by chance.
  const std::vector<IndexSet> others = projections(wrong, false, shape);
  if ((size - count) * 100 > size && product(others) == size - count) {
    pattern.text = "all but " + box_text(others);
    pattern.tile = tiles_of(others);
    return pattern;
  }
  if (set_memory_text(wrong, count, pattern)) return pattern;
  // Some elements of a wrong block are right by chance: zeros, numbers that repeat.
  constexpr double nearly_all = 0.9;
  if (static_cast<double>(count) < nearly_all * static_cast<double>(box)) return std::nullopt;
  pattern.exact = false;
  pattern.text = fmt::format("nearly all elements{}", box == size ? "" : " of " + box_text(sets));
  pattern.tile = tiles_of(sets);
  return pattern;
}

}  // namespace driftscope
