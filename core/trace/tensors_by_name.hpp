// A trace's values by name, for callers that look up many: Trace::find searches linearly each time.
// Clients: tables and responses about all layers.
#pragma once

#include <string_view>
#include <unordered_map>

#include "core/trace/trace.hpp"

namespace driftscope {

/// Valid as long as the trace exists and is unchanged.
class TensorsByName {
 public:
  explicit TensorsByName(const Trace& trace) {
    tensors_.reserve(trace.tensors.size());
    for (const NamedTensor& named : trace.tensors) tensors_.emplace(named.name, &named.tensor);
  }
  /// Null when it was not recorded.
  [[nodiscard]] const Tensor* find(std::string_view value_name) const {
    const auto found = tensors_.find(value_name);
    return found == tensors_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, const Tensor*> tensors_;
};

}  // namespace driftscope
