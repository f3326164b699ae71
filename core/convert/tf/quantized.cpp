#include "core/convert/tf/quantized.hpp"
#include "core/model/tensor_elements.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope::tf {

Result<Quantization> read_quantization(const Lowering& lowering, const OnnxNode& node, std::size_t scale,
                                       std::size_t zero_point) {
  DRIFTSCOPE_TRY(const Tensor* const scales, lowering.known(node, scale, "scale"));
  if (scales->dtype() != DType::float32 || scales->rank() > 1)
    return unsupported("only float32 scales, one in total or one per channel, have an equivalent");
  Quantization quantization;
  quantization.scales.assign(scales->values<float>().begin(), scales->values<float>().end());
  quantization.zero_points.assign(quantization.scales.size(), 0);
  if (!Lowering::has_input(node, zero_point)) return quantization;
  DRIFTSCOPE_TRY(const Tensor* const zeros, lowering.known(node, zero_point, "zero point"));
  for (std::size_t i = 0; i < quantization.zero_points.size(); ++i) {
    const std::size_t at = zeros->elements() == 1 ? 0 : i;
    if (at >= static_cast<std::size_t>(zeros->elements()))
      return bad_input(fmt::format("{} scales, but {} zero points", scales->elements(), zeros->elements()));
    if (!is_integer(zeros->dtype()) || bits_per_element(zeros->dtype()) != 8)
      return unsupported(fmt::format("zero points of {}", dtype_name(zeros->dtype())));
    quantization.zero_points[i] = static_cast<std::int64_t>(number_at(*zeros, at));
  }
  return quantization;
}

Status quantize_tensor(Lowering& lowering, const std::string& tensor, const Quantization& wanted) {
  const Quantization& known = lowering.info(tensor).quantization;
  if (known.scales.empty()) {
    lowering.set_quantization(tensor, wanted);
    return {};
  }
  if (known.scales == wanted.scales && known.zero_points == wanted.zero_points) return {};
  return unsupported(fmt::format("'{}' is read with another scale or zero point than it has", tensor));
}

Status expect_symmetric(const Quantization& weights) {
  if (std::ranges::all_of(weights.zero_points, [](std::int64_t zero) { return zero == 0; })) return {};
  return unsupported("weights whose zero point is not 0 (128 for uint8)");
}

}  // namespace driftscope::tf
