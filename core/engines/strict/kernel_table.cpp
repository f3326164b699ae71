#include "core/engines/strict/kernel_table.hpp"

namespace driftscope {

const Tensor* StrictSite::constant(std::size_t i) const {
  const ValueId id = node.inputs[i];
  const std::optional<Tensor>& own = graph.values[id].constant;
  if (own) return &*own;
  return id < folded.size() && folded[id] ? &*folded[id] : nullptr;
}

bool StrictSite::all_float32() const {
  const auto fits = [&](ValueId id) {
    const Value& value = graph.values[id];
    return value.dtype == DType::float32 && value.static_shape().has_value();
  };
  for (const ValueId id : node.inputs)
    if (id != no_value && !fits(id)) return false;
  return node.outputs.size() == 1 && node.outputs[0] != no_value && fits(node.outputs[0]);
}

StrictKernelRow StrictKernelTable::find(std::string_view domain, std::string_view op_type) const {
  const auto found =
      domain.empty() ? rows_.find(op_type) : rows_.find(std::string(domain) + "." + std::string(op_type));
  return found == rows_.end() ? StrictKernelRow{} : found->second;
}

}  // namespace driftscope
