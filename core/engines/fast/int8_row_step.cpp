#include "core/engines/fast/int8_row_step.hpp"

#include <new>
#include <optional>

#include "core/engines/fast/row_step.hpp"

namespace driftscope::fast {

Result<bool> place_int8_rows(Lowering& lowering, const Int8Conv& conv) {
  const Shape y_shape = lowering.shape(conv.y);
  const std::int64_t outputs = conv.w->shape()[0];
  const std::int64_t work = element_count(y_shape) * (conv.w->elements() / outputs) / 2;
  const std::int64_t threads = lowering.pool_for(work) == nullptr ? 1 : lowering.threads().size();
  std::optional<Int8RowConvolution> convolution;
  try {
    convolution.emplace(conv.window, outputs, int8_row_kernels(lowering.simd()),
                        conv.w->values<std::int8_t>().data(), conv.bias, conv.scales, conv.x_form,
                        conv.y_form, lowering.threads(), threads);
  } catch (const std::bad_alloc&) {
    return false;
  }
  DRIFTSCOPE_CHECK(emit_rows<std::byte>(lowering, *std::move(convolution), conv.window, conv.x, conv.y));
  return true;
}

}  // namespace driftscope::fast
