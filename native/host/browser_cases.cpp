#include "native/host/browser_cases.hpp"

#include <optional>
#include <utility>

namespace driftscope {
namespace {

// Each costs the time until a browser is given up.
constexpr int max_losses = 24;

class Survivors {
 public:
  Survivors(const RunCases& run, int& losses) : run_(run), losses_(losses) {}

  Status run_part(std::size_t first, std::size_t count) {
    if (count == 0) return {};
    std::optional<std::size_t> done;  // when the browser was lost
    auto part = run_(first, count, [&](std::size_t cases) { done = cases; });
    if (part.ok()) {
      for (Result<Trace>& trace : *part) results_.push_back({std::move(trace)});
      return {};
    }
    Error error = std::move(part).error();
    if (!done || *done >= count || ++losses_ > max_losses) return error;
    DRIFTSCOPE_CHECK(run_part(first, *done));
    DRIFTSCOPE_CHECK(run_again(first + *done, std::move(error)));
    return run_part(first + *done + 1, count - *done - 1);
  }

  std::vector<CaseRun> take() { return std::move(results_); }

 private:
  Status run_again(std::size_t index, Error lost) {
    bool lost_again = false;
    auto alone = run_(index, 1, [&](std::size_t) { lost_again = true; });
    if (alone.ok())
      results_.push_back({std::move(alone->front()), std::move(lost)});
    else if (lost_again)
      results_.push_back({.trace = std::move(alone).error(), .lost = true});
    else if (alone.error().kind == ErrorKind::cancelled)
      return std::move(alone).error();
    else  // not even begun: what is known is that the browser was lost in it
      results_.push_back({.trace = std::move(lost), .lost = true});
    return {};
  }

  const RunCases& run_;
  std::vector<CaseRun> results_;
  int& losses_;
};

}  // namespace

Result<std::vector<CaseRun>> run_surviving(std::size_t count, const RunCases& run, int& losses) {
  Survivors survivors(run, losses);
  DRIFTSCOPE_CHECK(survivors.run_part(0, count));
  return survivors.take();
}

}  // namespace driftscope
