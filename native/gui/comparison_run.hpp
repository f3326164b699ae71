// The window's comparison: each target is shown as soon as its result is available. The order of the work
// is defined in core/compare. Client: desktop_host, on its worker.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/gui/feed.hpp"
#include "native/host/inputs.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

struct WindowComparison {
  std::shared_ptr<const ModelFile> model;
  std::vector<std::string> inputs;              ///< as for --input
  std::optional<GivenInputs> kept_inputs = {};  ///< of a kept comparison, in place of those
  std::string dataset;                          ///< as for --dataset; empty: none
  gui::RunChoice choice;                        ///< the left target first
};

struct ComparisonCallbacks {
  std::function<bool()> stopped;
  std::function<void(const std::vector<gui::TargetProgress>&)> progress;
  std::function<void(gui::Snapshot)> result;  ///< after each target, with all so far
};

/// Targets that fail have an error in their column; the returned error affects all of them.
[[nodiscard]] Status run_comparison(const WindowComparison& wanted, TargetRunner& runner,
                                    const ComparisonCallbacks& callbacks);

}  // namespace driftscope
