#include "core/trace/trace_view.hpp"

#include <algorithm>

#include "core/trace/converted_tensor.hpp"
#include "core/trace/safetensors.hpp"

namespace driftscope {

TraceView::TraceView(const Trace& trace) : in_memory_(&trace) {
  about_.model_sha256 = trace.model_sha256;
  about_.target = trace.target;
  about_.run = trace.run;
  about_.nodes = trace.nodes;
  about_.control_flow = trace.control_flow;
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
  const std::vector<LaterName> later = later_names(view.about_);
  for (SafetensorsEntry& entry : layout->header.entries) {
    const auto found = std::ranges::find(later, entry.name, &LaterName::name);
    if (found == later.end())
      view.entries_.push_back(std::move(entry));
    else
      view.later_.emplace_back(*found, std::move(entry));
  }
  view.data_ = layout->data;
  return view;
}

Result<Tensor> TraceView::load(std::size_t i) const {
  if (const auto found = replaced_.find(i); found != replaced_.end()) return found->second;
  const auto original = originals_.find(i);
  const bool converted = original != originals_.end();
  auto tensor = in_memory_ != nullptr
                    ? Result<Tensor>(in_memory_->tensors[i].tensor)
                    : read_safetensors_tensor(converted ? original->second : entries_[i], data_);
  if (!tensor.ok()) return in_context(std::move(tensor).error(), "trace");
  return converted ? converted_tensor(*tensor, entries_[i].dtype, entries_[i].shape) : std::move(tensor);
}

void TraceView::convert(std::size_t i, DType dtype, Shape shape) {
  originals_.emplace(i, entries_[i]);
  entries_[i].dtype = dtype;
  entries_[i].shape = std::move(shape);
}

Result<std::optional<Tensor>> TraceView::load_later(std::int64_t run, std::string_view value) const {
  if (in_memory_ != nullptr) {
    for (const LaterValue& later : in_memory_->later)
      if (later.run == run && later.named.name == value) return std::optional(later.named.tensor);
    return std::optional<Tensor>();
  }
  for (const auto& [name, entry] : later_) {
    if (name.run != run || name.value != value) continue;
    auto tensor = read_safetensors_tensor(entry, data_);
    if (!tensor.ok()) return in_context(std::move(tensor).error(), "trace");
    return std::optional(*std::move(tensor));
  }
  return std::optional<Tensor>();
}

void TraceView::replace(std::size_t i, Tensor tensor) {
  entries_[i].dtype = tensor.dtype();
  entries_[i].shape = tensor.shape();
  replaced_.insert_or_assign(i, std::move(tensor));
}

}  // namespace driftscope
