#include "core/engines/fast/int8_row_step.hpp"

#include <new>
#include <optional>

namespace driftscope::fast {
namespace {

class Int8RowStep final : public Step {
 public:
  Int8RowStep(Int8RowConvolution convolution, bool channels_last, BufferId in, BufferId out, BufferId scratch)
      : convolution_(std::move(convolution)),
        channels_last_(channels_last),
        in_(in),
        out_(out),
        scratch_(scratch) {}

  Status bind(const Memory& memory) override {
    x_ = memory.at<const std::byte>(in_);
    y_ = memory.at<std::byte>(out_);
    space_ = memory.at<std::byte>(scratch_);
    return {};
  }
  Status run(Memory& /*memory*/) override {
    convolution_.run(x_, channels_last_, y_, space_);
    return {};
  }

 private:
  Int8RowConvolution convolution_;
  bool channels_last_;
  BufferId in_, out_, scratch_;
  const std::byte* x_ = nullptr;
  std::byte* y_ = nullptr;
  std::byte* space_ = nullptr;
};

}  // namespace

Result<bool> place_int8_rows(Lowering& lowering, const Int8Conv& conv) {
  const Shape x_shape = lowering.shape(conv.x);
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
  const bool plain = lowering.layout(conv.x).plain() && conv.window.channels <= 4;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(conv.x, plain ? Layout{} : channels_last(x_shape)));
  const BufferId out = lowering.write(conv.y, channels_last(y_shape));
  const BufferId scratch = lowering.scratch(static_cast<std::size_t>(convolution->scratch()));
  PlannedStep planned;
  planned.reads = {in};
  planned.writes = {out, scratch};
  planned.step = std::make_unique<Int8RowStep>(*std::move(convolution), !plain, in, out, scratch);
  lowering.emit(std::move(planned));
  return true;
}

}  // namespace driftscope::fast
