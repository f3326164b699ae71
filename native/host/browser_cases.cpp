#include "native/host/browser_cases.hpp"

#include <iterator>
#include <optional>
#include <utility>

namespace driftscope {
namespace {

// Each costs the time until a browser is given up.
constexpr int most_failures = 24;

class Survivors {
 public:
  explicit Survivors(const RunCases& run) : run_(run) {}

  Status run_part(std::size_t first, std::size_t count) {
    if (count == 0) return {};
    std::optional<std::size_t> done;  // when the browser was lost
    auto part = run_(first, count, [&](std::size_t cases) { done = cases; });
    if (part.ok()) {
      results_.insert(results_.end(), std::make_move_iterator(part->begin()),
                      std::make_move_iterator(part->end()));
      return {};
    }
    Error error = std::move(part).error();
    if (!done || *done >= count || ++failures_ > most_failures) return error;
    DRIFTSCOPE_CHECK(run_part(first, *done));
    results_.emplace_back(std::move(error));
    return run_part(first + *done + 1, count - *done - 1);
  }

  std::vector<Result<Trace>> take() { return std::move(results_); }

 private:
  const RunCases& run_;
  std::vector<Result<Trace>> results_;
  int failures_ = 0;
};

}  // namespace

Result<std::vector<Result<Trace>>> run_surviving(std::size_t count, const RunCases& run) {
  Survivors survivors(run);
  DRIFTSCOPE_CHECK(survivors.run_part(0, count));
  return survivors.take();
}

}  // namespace driftscope
