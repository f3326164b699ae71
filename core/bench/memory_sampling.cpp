#include "core/bench/memory_sampling.hpp"

#include <algorithm>

namespace driftscope {
namespace {

// As many samples as a slope needs, few enough that taking them does not outweigh the runs: in a browser each
// one is a request, whose own garbage is memory as well.
constexpr std::int64_t samples_wanted = 40;
constexpr std::size_t samples_to_decide = 20;

}  // namespace

std::int64_t MemorySampling::next_runs() const {
  const std::int64_t each = std::max<std::int64_t>(1, limits_.runs / samples_wanted);
  return std::min(each, limits_.runs - memory_.runs);
}

void MemorySampling::ran(std::int64_t runs) {
  memory_.runs += runs;
  ++times_sampled_;
}

void MemorySampling::add(const std::string& kind, std::int64_t bytes, bool exact) {
  if (bytes <= 0) return;
  auto found = std::ranges::find(memory_.series, kind, &MemorySeries::kind);
  if (found == memory_.series.end())
    found = memory_.series.insert(memory_.series.end(), MemorySeries{kind, exact});
  found->runs.push_back(static_cast<double>(memory_.runs));
  found->bytes.push_back(static_cast<double>(bytes));
}

double MemorySampling::growth() const {
  double largest = 0.0;
  for (const MemorySeries& one : memory_.series)
    largest = std::max(largest, one.bytes.back() - one.bytes.front());
  return largest;
}

bool MemorySampling::finished(double seconds) {
  if (limits_.max_growth > 0 && growth() > static_cast<double>(limits_.max_growth)) {
    memory_.end = MemoryEnd::memory;
    return true;
  }
  if (times_sampled_ >= samples_to_decide && growth_is_decided(memory_.series)) {
    memory_.end = MemoryEnd::decided;
    return true;
  }
  if (memory_.runs >= limits_.runs) return true;
  if (seconds <= limits_.seconds) return false;
  memory_.end = MemoryEnd::time;
  return true;
}

}  // namespace driftscope
