#include "core/engines/fast/row_convolution_step.hpp"

#include <new>
#include <optional>

#include "core/engines/fast/row_convolution.hpp"

namespace driftscope::fast {
namespace {

class RowConvolutionStep final : public Step {
 public:
  RowConvolutionStep(RowConvolution convolution, bool channels_last, BufferId in, BufferId out,
                     BufferId scratch)
      : convolution_(std::move(convolution)),
        channels_last_(channels_last),
        in_(in),
        out_(out),
        scratch_(scratch) {}

  Status bind(const Memory& memory) override {
    x_ = memory.at<const float>(in_);
    y_ = memory.at<float>(out_);
    space_ = memory.at<float>(scratch_);
    return {};
  }
  Status run(Memory& /*memory*/) override {
    convolution_.run(x_, channels_last_, y_, space_);
    return {};
  }

 private:
  RowConvolution convolution_;
  bool channels_last_;
  BufferId in_, out_, scratch_;
  const float* x_ = nullptr;
  float* y_ = nullptr;
  float* space_ = nullptr;
};

}  // namespace

Result<bool> lower_by_rows(Lowering& lowering, const Node& node, const FloatConv& conv) {
  const RowWindow window{conv.x_shape[0], conv.x_shape[1], conv.window};
  const std::int64_t outputs = conv.w->shape()[0];
  if (!is_row_convolution(window, conv.groups)) return false;
  const Fusion fusion = lowering.with_activation(node);
  const Shape y_shape = lowering.shape(fusion.output);
  const std::int64_t work = element_count(y_shape) * (conv.w->elements() / outputs);
  const std::int64_t threads = lowering.pool_for(work) == nullptr ? 1 : lowering.threads().size();
  std::optional<RowConvolution> convolution;
  try {
    convolution.emplace(window, outputs, row_convolution_kernels(lowering.simd()),
                        conv.w->values<float>().data(), conv.bias, fusion.clamp.min, fusion.clamp.max,
                        lowering.threads(), threads);
  } catch (const std::bad_alloc&) {
    return false;
  }
  // An image of the model's user is read as it comes.
  const bool plain = lowering.layout(conv.x).plain();
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(conv.x, plain ? Layout{} : channels_last(conv.x_shape)));
  const BufferId out = lowering.write(fusion.output, channels_last(y_shape));
  const BufferId scratch = lowering.scratch(static_cast<std::size_t>(convolution->scratch()) * sizeof(float));
  PlannedStep planned;
  planned.reads = {in};
  planned.writes = {out, scratch};
  planned.step = std::make_unique<RowConvolutionStep>(*std::move(convolution), !plain, in, out, scratch);
  lowering.emit(std::move(planned));
  lowering.absorb(fusion);
  return true;
}

}  // namespace driftscope::fast
