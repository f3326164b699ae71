#include "core/graph/topological_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

/// Walks backwards along the dependencies of nodes that never became ready: each has another such node as
/// a dependency, so the walk must reach a node a second time.
Error cycle_error(const std::vector<std::vector<std::size_t>>& dependencies, const std::vector<bool>& done,
                  const std::vector<std::string>& labels) {
  constexpr std::size_t max_named = 12;
  const auto first = std::find(done.begin(), done.end(), false);
  std::size_t node = static_cast<std::size_t>(first - done.begin());
  std::vector<std::size_t> walk;
  std::vector<bool> seen(done.size(), false);
  while (!seen[node]) {
    seen[node] = true;
    walk.push_back(node);
    const auto& needed = dependencies[node];
    node = *std::find_if(needed.begin(), needed.end(), [&](std::size_t d) { return !done[d]; });
  }
  walk.erase(walk.begin(), std::find(walk.begin(), walk.end(), node));
  std::reverse(walk.begin(), walk.end());
  std::string text;
  for (std::size_t i = 0; i < walk.size() && i < max_named; ++i) text += in_quotes(labels[walk[i]]) + " → ";
  if (walk.size() > max_named) text += fmt::format("… {} more → ", walk.size() - max_named);
  return bad_input(fmt::format("the graph has a cycle, so no node of it can run first: {}{}", text,
                               in_quotes(labels[walk.front()])));
}

}  // namespace

Result<std::vector<std::size_t>> topological_order(const std::vector<std::vector<std::size_t>>& dependencies,
                                                   const std::vector<std::string>& labels) {
  const std::size_t count = dependencies.size();
  std::vector<std::vector<std::size_t>> consumers(count);
  std::vector<std::size_t> open(count);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i) {
    open[i] = dependencies[i].size();
    if (open[i] == 0) ready.push(i);
    for (const std::size_t d : dependencies[i]) consumers[d].push_back(i);
  }
  std::vector<std::size_t> order;
  std::vector<bool> done(count, false);
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.push_back(i);
    done[i] = true;
    for (const std::size_t consumer : consumers[i])
      if (--open[consumer] == 0) ready.push(consumer);
  }
  if (order.size() != count) return cycle_error(dependencies, done, labels);
  return order;
}

}  // namespace driftscope
