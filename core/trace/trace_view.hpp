// A trace whose tensors are created on request: from a Trace in memory, or from the bytes of
// a file that the caller keeps (mapped, so that a large one is never in memory as a whole).
// Client: verify, which needs the tensors of one node at a time.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/trace/safetensors_header.hpp"
#include "core/trace/trace.hpp"
#include "core/trace/trace_file.hpp"

namespace driftscope {

class TraceView {
 public:
  /// The trace must outlive the view.
  explicit TraceView(const Trace& trace);

  /// Checks header and layout as read_trace does; `bytes` must outlive the view.
  [[nodiscard]] static Result<TraceView> open(std::span<const std::byte> bytes);

  /// Everything but the tensors.
  [[nodiscard]] const Trace& about() const { return about_; }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// Name, dtype and shape.
  [[nodiscard]] const SafetensorsEntry& operator[](std::size_t i) const { return entries_[i]; }
  /// Renames it in this view; the trace itself is unchanged.
  void rename(std::size_t i, std::string name) { entries_[i].name = std::move(name); }
  [[nodiscard]] Result<Tensor> load(std::size_t i) const;

  /// The value of a later run that differs from the one recorded; nothing where none was kept.
  [[nodiscard]] Result<std::optional<Tensor>> load_later(std::int64_t run, std::string_view value) const;
  /// In this view, entry i is this tensor; the trace itself is unchanged.
  void replace(std::size_t i, Tensor tensor);
  /// In this view, entry i has this dtype and shape, converted when it is loaded (converted_tensor).
  void convert(std::size_t i, DType dtype, Shape shape);

 private:
  TraceView() = default;

  Trace about_;
  std::vector<SafetensorsEntry> entries_;
  std::vector<std::pair<LaterName, SafetensorsEntry>> later_;  // of a file
  std::map<std::size_t, Tensor> replaced_;
  std::map<std::size_t, SafetensorsEntry> originals_;  // of converted ones
  const Trace* in_memory_ = nullptr;                   // or
  std::span<const std::byte> data_;                    // of the file, behind the header
};

}  // namespace driftscope
