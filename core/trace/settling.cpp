#include "core/trace/settling.hpp"

#include <algorithm>
#include <numeric>

namespace driftscope {

bool has_settled(std::span<const std::int64_t> run_ns, const SettlingLimits& limits) {
  constexpr std::size_t min_runs = 7;
  constexpr double improvement = 0.97;
  // The first run says nothing about the others.
  if (run_ns.size() < 2) return false;
  const std::int64_t total = std::accumulate(run_ns.begin(), run_ns.end(), std::int64_t{0});
  if (total >= limits.budget_ns || static_cast<std::int64_t>(run_ns.size()) >= limits.max_runs) return true;
  if (run_ns.size() < min_runs || total < limits.min_ns) return false;
  const std::size_t later = run_ns.size() - run_ns.size() / 3;
  const auto fastest = [](std::span<const std::int64_t> runs) {
    return static_cast<double>(*std::ranges::min_element(runs));
  };
  return fastest(run_ns.subspan(later)) >= improvement * fastest(run_ns.subspan(1, later - 1));
}

}  // namespace driftscope
