#include "core/gui/recorded_tensors.hpp"

#include <utility>

namespace driftscope::gui {

std::shared_ptr<const RecordedTensors> RecordedTensors::of(Trace trace) {
  auto kept = std::make_shared<const Trace>(std::move(trace));
  std::shared_ptr<RecordedTensors> made(new RecordedTensors);
  made->view_.emplace(*kept);
  made->trace_ = kept.get();
  made->owner_ = std::move(kept);
  made->index();
  return made;
}

Result<std::shared_ptr<const RecordedTensors>> RecordedTensors::open(std::shared_ptr<const void> owner,
                                                                     std::span<const std::byte> bytes) {
  DRIFTSCOPE_TRY(TraceView view, TraceView::open(bytes));
  std::shared_ptr<RecordedTensors> made(new RecordedTensors);
  made->view_.emplace(std::move(view));
  made->owner_ = std::move(owner);
  made->index();
  return std::shared_ptr<const RecordedTensors>(std::move(made));
}

void RecordedTensors::index() {
  for (std::size_t i = 0; i < view_->size(); ++i) places_.emplace((*view_)[i].name, i);
}

std::optional<std::size_t> RecordedTensors::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace driftscope::gui
