// Many small runs in a browser, some of which may take the page with them. Client: target_runner.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/base/result.hpp"
#include "core/protocol/batch.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

/// Runs `count` cases, from `first` on, in one browser. When the browser hangs or ends while they run,
/// `lost_at` receives how many of them were done.
using RunCases = std::function<Result<std::vector<Result<Trace>>>(
    std::size_t first, std::size_t count, const std::function<void(std::size_t)>& lost_at)>;

/// What came of one case.
struct CaseRun {
  Result<Trace> trace;
  std::optional<Error> lost_before = {};  ///< the browser was lost during its first run, not the second
  bool lost = false;                      ///< during both: that is the error of `trace`
};

/// One outcome for each of `count` cases. A case during which the browser was lost runs once more, alone,
/// and gets the error when the browser is lost again: browsers hang now and then whatever they run. Cases
/// before it, whose results went with the browser, run once more; those behind it go on in another one. Where
/// the second run does not even begin, the case has the first error. Errors: those of a browser that was not
/// lost so, and when it was lost too often.
/// `losses` counts them over several calls.
[[nodiscard]] Result<std::vector<CaseRun>> run_surviving(std::size_t count, const RunCases& run, int& losses);

}  // namespace driftscope
