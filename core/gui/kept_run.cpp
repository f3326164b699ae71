#include "core/gui/kept_run.hpp"

namespace driftscope::gui {

Result<SnapshotParts> parts_of(const KeptComparison& kept, const std::shared_ptr<const void>& owner) {
  const ComparisonView& view = kept.view();
  SnapshotParts parts = description_of(view);
  parts.topology = kept.topology();
  for (std::size_t i = 0; i <= view.right.size(); ++i) {
    TargetParts target = parts_of(i == 0 ? view.left : view.right[i - 1]);
    if (const auto trace = kept.trace(i); !trace.empty()) {
      DRIFTSCOPE_TRY(target.tensors, RecordedTensors::open(owner, trace));
    }
    parts.targets.push_back(std::move(target));
  }
  return parts;
}

}  // namespace driftscope::gui
