// Makes an excerpt smaller as long as it fails in the same way: sizes, attributes, optional inputs, values.
// After delta debugging (Zeller and Hildebrandt 2002, "Simplifying and isolating failure-inducing input"):
// the larger steps first, again until none of them can be taken. Client: the command reduce.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/repro/excerpt.hpp"

namespace driftscope {

/// How an excerpt ran: its verdict with the explanation.
using RunExcerpt = std::function<Result<LayerVerdict>(Excerpt&)>;

struct ReduceStep {
  std::string text;           ///< "axis 2 of x0 from 14 to 7"
  std::int64_t elements = 0;  ///< of all tensors after it
};

struct ReduceProgress {
  std::int64_t tried = 0;
  std::int64_t elements = 0;
  std::string step;  ///< what is tried
};

struct ReduceOptions {
  std::int64_t most_tries = 400;
  int repeats = 1;  ///< runs of a candidate that passes, where the fault does not come every time
  /// False: enough; the smallest excerpt so far is the result.
  std::function<bool(const ReduceProgress&)> go_on = {};
};

struct Reduced {
  Excerpt excerpt;
  std::vector<ReduceStep> steps;
  std::int64_t tried = 0;
  std::int64_t elements_before = 0;
  std::int64_t elements_after = 0;
  bool finished = false;  ///< no step is left, rather than no time
};

/// `excerpt` fails: its verdict is that of a run on the target. A candidate is kept if its verdict is the
/// same, with the same cause, or without one as before, and if what is wrong are values that are no numbers,
/// or another shape, in both or in neither. Errors of the target end it, except that it refuses a candidate.
[[nodiscard]] Result<Reduced> reduce(Excerpt excerpt, const RunExcerpt& run, const ReduceOptions& options,
                                     ThreadPool& threads);

/// Elements of all weights, inputs and the output.
[[nodiscard]] std::int64_t elements_of_all(const Excerpt& excerpt);

}  // namespace driftscope
