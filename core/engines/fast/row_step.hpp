// The step of the plan that runs a convolution by rows. Clients: row_convolution_step.cpp, int8_row_step.cpp.
#pragma once

#include <memory>
#include <utility>

#include "core/engines/fast/lowering.hpp"
#include "core/engines/fast/row_window.hpp"

namespace driftscope::fast {

template <class Convolution, class Element>
class RowStep final : public Step {
 public:
  RowStep(Convolution convolution, bool channels_last, BufferId in, BufferId out, BufferId scratch)
      : convolution_(std::move(convolution)),
        channels_last_(channels_last),
        in_(in),
        out_(out),
        scratch_(scratch) {}

  Status bind(const Memory& memory) override {
    x_ = memory.at<const Element>(in_);
    y_ = memory.at<Element>(out_);
    space_ = memory.at<Element>(scratch_);
    return {};
  }
  Status run(Memory& /*memory*/) override {
    convolution_.run(x_, channels_last_, y_, space_);
    return {};
  }

 private:
  Convolution convolution_;
  bool channels_last_;
  BufferId in_, out_, scratch_;
  const Element* x_ = nullptr;
  Element* y_ = nullptr;
  Element* space_ = nullptr;
};

/// Emits `convolution` of x to y. A picture of the model's user is read as it comes, in NCHW.
template <class Element, class Convolution>
[[nodiscard]] Status emit_rows(Lowering& lowering, Convolution convolution, const RowWindow& window,
                               ValueId x, ValueId y) {
  const bool plain = lowering.layout(x).plain() && window.has_few_channels();
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, plain ? Layout{} : channels_last(lowering.shape(x))));
  const BufferId out = lowering.write(y, channels_last(lowering.shape(y)));
  const BufferId scratch =
      lowering.scratch(static_cast<std::size_t>(convolution.scratch()) * sizeof(Element));
  PlannedStep planned;
  planned.reads = {in};
  planned.writes = {out, scratch};
  planned.step =
      std::make_unique<RowStep<Convolution, Element>>(std::move(convolution), !plain, in, out, scratch);
  lowering.emit(std::move(planned));
  return {};
}

}  // namespace driftscope::fast
