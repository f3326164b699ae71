#include "core/engines/strict/prepared_inputs.hpp"

#include <algorithm>

#include "core/engines/strict/widened_kernel.hpp"
#include "core/graph/legacy.hpp"

namespace driftscope::strict {
namespace {

bool fits(const TensorType& type, const Tensor* tensor) {
  if (tensor == nullptr || type.dtype != tensor->dtype() || !type.shape) return tensor == nullptr;
  return std::equal(type.shape->begin(), type.shape->end(), tensor->shape().begin(), tensor->shape().end(),
                    [](const Dimension& dimension, std::int64_t size) { return dimension.size == size; });
}

}  // namespace

PreparedInputs::PreparedInputs(const StrictSite& site) {
  for (const ValueId id : site.node.inputs)
    types_.push_back(id == no_value ? TensorType{}
                                    : TensorType{site.graph.values[id].dtype, site.graph.values[id].shape});
}

bool PreparedInputs::known(const StrictSite& site) {
  return std::ranges::all_of(site.node.inputs, [&](ValueId id) {
    return id == no_value ||
           (site.graph.values[id].dtype != DType::undefined && site.graph.values[id].static_shape());
  });
}

PreparedInputs::Fit PreparedInputs::fit(const StrictKernel& kernel,
                                        std::span<const Tensor* const> inputs) const {
  bool all = true;
  bool released = false;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (kernel.reads(i))
      all = all && fits(types_[i], inputs[i]);
    else if (!fits(types_[i], inputs[i]))  // an empty tensor in a weight's place
      released = true;
  }
  return all ? Fit::yes : released ? Fit::never : Fit::no;
}

std::unique_ptr<StrictKernel> prepare_kernel(const StrictSite& site) {
  const PrepareStrictKernel make = strict_kernels().find(site.node.domain, site.node.op_type).prepare;
  if (make == nullptr || site.node.attribute(broadcast_axis) != nullptr || !PreparedInputs::known(site))
    return nullptr;
  auto kernel = make(site);
  return kernel != nullptr ? std::move(kernel) : prepare_widened(site, make);
}

}  // namespace driftscope::strict
