// A convolution by rows as a step of the plan. Clients: row_convolution_step.cpp, int8_row_step.cpp.
#pragma once

#include <utility>

#include "core/engines/fast/kernel_step.hpp"
#include "core/engines/fast/row_window.hpp"

namespace driftscope::fast {

/// Emits `convolution` of x to y. A picture of the model's user is read as it comes, in NCHW.
template <class Element, class Convolution>
[[nodiscard]] Status emit_rows(Lowering& lowering, Convolution convolution, const RowWindow& window,
                               ValueId x, ValueId y) {
  const bool plain = lowering.layout(x).plain() && window.has_few_channels();
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, plain ? Layout{} : channels_last(lowering.shape(x))));
  const BufferId out = lowering.write(y, channels_last(lowering.shape(y)));
  const auto scratch = static_cast<std::size_t>(convolution.scratch());
  emit_kernel<Element>(
      lowering, in, out, scratch,
      [convolution = std::move(convolution), plain](const Element* from, Element* to, Element* space) {
        convolution.run(from, !plain, to, space);
      });
  return {};
}

}  // namespace driftscope::fast
