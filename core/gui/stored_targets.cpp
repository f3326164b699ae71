#include "core/gui/stored_targets.hpp"

#include <algorithm>

#include "core/results/comparison_reader.hpp"

namespace driftscope::gui {

Result<SnapshotParts> read_stored_comparison(std::string_view json) {
  DRIFTSCOPE_TRY(ComparisonView view, read_comparison(json));
  SnapshotParts parts = description_of(view);
  parts.targets.push_back(parts_of(std::move(view.left)));
  for (TargetResult& right : view.right) parts.targets.push_back(parts_of(std::move(right)));
  return parts;
}

Result<std::vector<TargetParts>> read_stored_targets(std::string_view json) {
  DRIFTSCOPE_TRY(SnapshotParts parts, read_stored_comparison(json));
  return std::move(parts.targets);
}

void merge_targets(std::vector<TargetParts>& targets, std::vector<TargetParts> more) {
  for (TargetParts& one : more) {
    const auto same = std::find_if(targets.begin(), targets.end(), [&](const TargetParts& other) {
      return other.target == one.target && !(other.tensors && one.tensors) &&
             !(other.verification && one.verification);
    });
    if (same == targets.end()) {
      targets.push_back(std::move(one));
      continue;
    }
    if (one.tensors) same->tensors = std::move(one.tensors);
    if (one.verification) same->verification = std::move(one.verification);
    if (one.stored_time) same->stored_time = std::move(one.stored_time);
    if (one.comparison) same->comparison = std::move(one.comparison);
    if (one.dataset) same->dataset = std::move(one.dataset);
    if (!one.notes.empty()) same->notes = std::move(one.notes);
    if (!one.error.empty()) same->error = std::move(one.error);
  }
}

}  // namespace driftscope::gui
