// The window's comparison: each target is shown as soon as its result is there. What is done in which order
// is core/compare's. Client: desktop_host, on its worker.
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
  std::vector<std::string> inputs;   ///< as --input has them
  std::string dataset;               ///< as --dataset has it; empty: none
  std::vector<std::string> targets;  ///< the left one first
  int repeat = 5;
};

struct ComparisonCallbacks {
  std::function<bool()> stopped;
  std::function<void(const std::vector<gui::TargetProgress>&)> progress;
  std::function<void(gui::Snapshot)> result;  ///< after each target, with all so far
};

/// Targets that fail say so in their column; the error is one that concerns them all.
[[nodiscard]] Status run_comparison(const WindowComparison& wanted, TargetRunner& runner,
                                    const ComparisonCallbacks& callbacks);

}  // namespace driftscope
