// The runs of one target over releases: their order, where the verdict became worse or better, and since when
// it is what it is. Clients: wall, the pages. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/wall/run.hpp"

namespace driftscope::wall {

/// Sorts by release (of the browser, then of the runtime, as numbers), then by date, then by file: what an
/// older browser computes today belongs to its release. A run that does not say what ran is taken for one of
/// the release that ran before it.
void order_runs(std::vector<Run>& runs);

/// Gives runs that do not say on which system and device they were (targets that did not run) those of the
/// run before, by date; of the next one where there is none before. `runs`: of one model and target.
void place_failed_runs(std::vector<Run>& runs);

/// What two runs were made with, where both say it and it is not the same.
struct Difference {
  std::string what;  ///< "browser", "runtime", "driver", "device", "system", "Driftscope", …
  std::string from, to;
};
/// The most likely causes first.
[[nodiscard]] std::vector<Difference> differences(const Run& before, const Run& after);

/// "Chromium 157, ort 1.30"; of our own engines on the PC "build 1eb01241". Empty: not known.
[[nodiscard]] std::string release_text(const Run& run);

/// The place of the run before, among those that say something; nothing: it is the first of them.
[[nodiscard]] std::optional<std::size_t> run_before(const std::vector<Run>& runs, std::size_t place);

/// Negative: `after` is worse. From identical to rounding and back counts only where both were compared with
/// the same target on the same input.
[[nodiscard]] int improvement(const Run& before, const Run& after);

/// Runs that follow one another with one release and one verdict: [first, last].
struct Step {
  std::size_t first = 0;
  std::size_t last = 0;
};
[[nodiscard]] std::vector<Step> steps_of(const std::vector<Run>& runs);

/// Since when the last verdict holds.
struct Since {
  std::size_t first = 0;              ///< the first run of it
  std::optional<std::size_t> before;  ///< the last run of another verdict; nothing: it has always been so
  std::string text;                   ///< "since Chromium 157"; "in all 12 runs"
};
/// Nothing where no run says anything.
[[nodiscard]] std::optional<Since> since_when(const std::vector<Run>& runs);

}  // namespace driftscope::wall
