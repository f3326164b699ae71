#include "core/convert/tf/indices.hpp"

#include "core/model/indices_of.hpp"

namespace driftscope::tf {

Result<std::string> read_indices(Lowering& lowering, ValueId id, std::int64_t size) {
  if (const Tensor* const known = lowering.constant(id)) {
    std::vector<std::int64_t> indices = indices_of(*known);
    bool negative = false;
    for (std::int64_t& index : indices) {
      negative = negative || index < 0;
      if (index < 0) index += size;
    }
    if (!negative) return lowering.read(id);
    DRIFTSCOPE_TRY(Tensor tensor, Tensor::from_values<std::int64_t>(known->shape(), indices));
    return lowering.weights(id, tensor);
  }
  DRIFTSCOPE_TRY(const std::string given, lowering.read(id));
  const std::string below =
      lowering.elementwise("is_negative", "Less", {given, lowering.number(0, DType::int32)}, DType::boolean);
  const std::string wrapped = lowering.elementwise(
      "wrapped", "AddV2", {given, lowering.number(static_cast<double>(size), DType::int32)});
  return lowering.elementwise("index", "SelectV2", {below, wrapped, given}, DType::int32);
}

}  // namespace driftscope::tf
