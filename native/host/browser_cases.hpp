// Many small runs in a browser, some of which may take the page with them. Client: target_runner.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/protocol/batch.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

/// Runs `count` cases, from `first` on, in one browser. `at` receives how many of them are done, once they
/// run.
using RunCases = std::function<Result<std::vector<Result<Trace>>>(
    std::size_t first, std::size_t count, const std::function<void(std::size_t)>& at)>;

/// One trace or error for each of `count` cases. A case during which the browser hung or ended gets that
/// error; those before it, whose results went with it, run once more, and those behind it go on in another
/// browser. Errors: the browser fails before a case runs, or during more than a handful of cases.
[[nodiscard]] Result<std::vector<Result<Trace>>> run_surviving(std::size_t count, const RunCases& run);

}  // namespace driftscope
