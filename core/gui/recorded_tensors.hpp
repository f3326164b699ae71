// The tensors of one run by name, created on request: from a trace in memory, or from a mapped file,
// so that three traces of a large network can be open at once.
// Clients: layer_match, snapshot, the tensor view.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "core/trace/trace_view.hpp"

namespace driftscope::gui {

class RecordedTensors {
 public:
  [[nodiscard]] static std::shared_ptr<const RecordedTensors> of(Trace trace);
  /// `owner` keeps `bytes` (a whole trace file) alive. Errors: as TraceView::open.
  [[nodiscard]] static Result<std::shared_ptr<const RecordedTensors>> open(std::shared_ptr<const void> owner,
                                                                           std::span<const std::byte> bytes);

  /// Everything but the tensors.
  [[nodiscard]] const Trace& about() const { return view_->about(); }
  [[nodiscard]] std::size_t size() const { return view_->size(); }
  [[nodiscard]] const SafetensorsEntry& operator[](std::size_t i) const { return (*view_)[i]; }
  [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const;
  [[nodiscard]] Result<Tensor> load(std::size_t i) const { return view_->load(i); }
  /// For verify.
  [[nodiscard]] const TraceView& view() const { return *view_; }
  /// Null if it comes from a file.
  [[nodiscard]] const Trace* in_memory() const { return trace_; }

 private:
  RecordedTensors() = default;
  void index();

  std::shared_ptr<const void> owner_;
  const Trace* trace_ = nullptr;  // owned by owner_, or null
  std::optional<TraceView> view_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace driftscope::gui
