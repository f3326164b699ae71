#include "core/trace/trace_view.hpp"

#include "core/trace/safetensors.hpp"
#include "core/trace/trace_file.hpp"

namespace driftscope {

TraceView::TraceView(const Trace& trace) : in_memory_(&trace) {
  about_.model_sha256 = trace.model_sha256;
  about_.target = trace.target;
  about_.run = trace.run;
  about_.nodes = trace.nodes;
  about_.memory = trace.memory;
  for (const NamedTensor& named : trace.tensors)
    entries_.push_back({named.name, named.tensor.dtype(), named.tensor.shape(), 0, 0, entries_.size()});
}

Result<TraceView> TraceView::open(std::span<const std::byte> bytes) {
  auto layout = read_safetensors_layout(bytes);
  if (!layout.ok()) return in_context(std::move(layout).error(), "trace");
  auto about = read_trace_metadata(layout->header.metadata);
  if (!about.ok()) return in_context(std::move(about).error(), "trace");
  TraceView view;
  view.about_ = *std::move(about);
  view.entries_ = std::move(layout->header.entries);
  view.data_ = layout->data;
  return view;
}

Result<Tensor> TraceView::load(std::size_t i) const {
  if (in_memory_ != nullptr) return in_memory_->tensors[i].tensor;
  auto tensor = read_safetensors_tensor(entries_[i], data_);
  if (!tensor.ok()) return in_context(std::move(tensor).error(), "trace");
  return tensor;
}

}  // namespace driftscope
