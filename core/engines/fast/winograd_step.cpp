#include "core/engines/fast/winograd_step.hpp"

#include <new>
#include <optional>

namespace driftscope::fast {
namespace {

class WinogradStep final : public Step {
 public:
  WinogradStep(WinogradConvolution convolution, BufferId in, BufferId addend, BufferId out, BufferId scratch)
      : convolution_(std::move(convolution)), in_(in), addend_(addend), out_(out), scratch_(scratch) {}

  Status bind(const Memory& memory) override {
    x_ = memory.at<const float>(in_);
    sum_ = addend_ == no_buffer ? nullptr : memory.at<const float>(addend_);
    y_ = memory.at<float>(out_);
    space_ = memory.at<float>(scratch_);
    return {};
  }
  Status run(Memory& /*memory*/) override {
    convolution_.run(x_, sum_, y_, space_);
    return {};
  }

 private:
  WinogradConvolution convolution_;
  BufferId in_, addend_, out_, scratch_;
  const float* x_ = nullptr;
  const float* sum_ = nullptr;
  float* y_ = nullptr;
  float* space_ = nullptr;
};

}  // namespace

Result<bool> lower_by_winograd(Lowering& lowering, const Node& node, const FloatConv& conv) {
  const WinogradKernels kernels = winograd_kernels(lowering.simd());
  const WinogradShape shape{.batch = conv.x_shape[0],
                            .inputs = conv.w->shape()[1],
                            .outputs = conv.w->shape()[0],
                            .window = conv.window};
  const auto tile = choose_winograd(shape, conv.groups, kernels, lowering.winograd());
  if (!tile) return false;
  const Fusion fusion = lowering.with_sum(node);
  const Layout layout = channels_last(lowering.shape(fusion.output));
  std::optional<WinogradConvolution> convolution;
  try {
    convolution.emplace(shape, *tile, kernels, conv.w->values<float>().data(), conv.bias, fusion.clamp.min,
                        fusion.clamp.max, lowering.threads());
  } catch (const std::bad_alloc&) {
    return false;
  }
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(conv.x, channels_last(conv.x_shape)));
  PlannedStep planned;
  planned.reads = {in};
  BufferId addend = no_buffer;
  if (fusion.addend != no_value) {
    DRIFTSCOPE_TRY(addend, lowering.read(fusion.addend, layout));
    planned.reads.push_back(addend);
  }
  const BufferId out = lowering.write(fusion.output, layout);
  const BufferId scratch = lowering.scratch(static_cast<std::size_t>(convolution->scratch()) * sizeof(float));
  planned.writes = {out, scratch};
  planned.step = std::make_unique<WinogradStep>(*std::move(convolution), in, addend, out, scratch);
  lowering.emit(std::move(planned));
  lowering.absorb(fusion);
  lowering.count_winograd(*tile);
  return true;
}

}  // namespace driftscope::fast
