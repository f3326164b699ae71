// The step of the plan that runs a kernel of our own: one input, one output, and scratch memory. Clients:
// row_step.hpp; operators/matmul_nbits.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "core/engines/fast/lowering.hpp"

namespace driftscope::fast {

/// `run(x, y, scratch)`.
template <class Element, class Run>
class KernelStep final : public Step {
 public:
  KernelStep(Run run, BufferId in, BufferId out, BufferId scratch)
      : run_(std::move(run)), in_(in), out_(out), scratch_(scratch) {}

  Status bind(const Memory& memory) override {
    x_ = memory.at<const Element>(in_);
    y_ = memory.at<Element>(out_);
    space_ = memory.at<Element>(scratch_);
    return {};
  }
  Status run(Memory& /*memory*/) override {
    run_(x_, y_, space_);
    return {};
  }

 private:
  Run run_;
  BufferId in_, out_, scratch_;
  const Element* x_ = nullptr;
  Element* y_ = nullptr;
  Element* space_ = nullptr;
};

/// `scratch`: elements.
template <class Element, class Run>
void emit_kernel(Lowering& lowering, BufferId in, BufferId out, std::size_t scratch, Run run) {
  const BufferId space = lowering.scratch(scratch * sizeof(Element));
  PlannedStep planned;
  planned.reads = {in};
  planned.writes = {out, space};
  planned.step = std::make_unique<KernelStep<Element, Run>>(std::move(run), in, out, space);
  lowering.emit(std::move(planned));
}

}  // namespace driftscope::fast
