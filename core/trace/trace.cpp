#include "core/trace/trace.hpp"

namespace driftscope {

const Tensor* Trace::find(std::string_view value_name) const {
  for (const NamedTensor& named : tensors)
    if (named.name == value_name) return &named.tensor;
  return nullptr;
}

}  // namespace driftscope
