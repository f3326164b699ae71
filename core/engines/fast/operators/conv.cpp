// Conv in one and two dimensions with constant weights: XNNPACK's convolution on NHWC, depthwise where each
// channel has its own kernel; Winograd's where it is faster; our own by rows of the window for few channels.
// A 1-D convolution is one of height 1.
#include <algorithm>
#include <atomic>

#include "core/engines/fast/lowering.hpp"
#include "core/engines/fast/operators/quantized_conv.hpp"
#include "core/engines/fast/row_convolution_step.hpp"
#include "core/engines/fast/winograd_step.hpp"
#include "core/lowering/window2d.hpp"
#include "core/ops/shared/convolution.hpp"

namespace driftscope::fast::conv {

// O×I×(taps) → O×(taps)×I.
Result<Tensor> channels_innermost(const Tensor& w) {
  const Shape& shape = w.shape();
  DRIFTSCOPE_TRY(Tensor packed, Tensor::unwritten(DType::float32, shape, "weights"));
  DRIFTSCOPE_CHECK(reorder(shape, sizeof(float), {}, w.bytes().data(), channels_last(shape),
                           packed.mutable_bytes().data()));
  return packed;
}

// XNNPACK reads all weights for each tile of pixels. If they exceed the second-level
// cache, a convolution is run as several ones of fewer outputs each, a part on one thread.
constexpr std::int64_t cached_bytes = 640 * 1024;
constexpr std::int64_t tile_pixels = 12;
constexpr std::int64_t tile_outputs = 32;

std::int64_t outputs_at_once(std::int64_t outputs, std::int64_t inputs, std::int64_t pixels) {
  const auto bytes = static_cast<std::int64_t>(sizeof(float)) * inputs;
  if (pixels <= tile_pixels || outputs * bytes <= 2 * cached_bytes) return outputs;
  return std::max<std::int64_t>(1, cached_bytes / (tile_outputs * bytes)) * tile_outputs;
}

struct Channels {
  std::int64_t inputs;
  std::int64_t outputs;
  std::int64_t groups;
};

// The outputs [first, first + count) of a convolution.
struct Part {
  XnnOperator op;  // null: XNNPACK does not support it
  pthreadpool_t pool = nullptr;
  std::size_t workspace_bytes = 0;
  std::int64_t first = 0;
};

class PartsStep final : public Step {
 public:
  PartsStep(ThreadPool& threads, std::vector<Part> parts, BufferId in, BufferId out)
      : threads_(threads), parts_(std::move(parts)), in_(in), out_(out) {}

  Status bind(const Memory& memory) override {
    for (Part& part : parts_)  // none of these needs a workspace
      DRIFTSCOPE_CHECK(
          xnn_check(xnn_setup_convolution2d_nhwc_f32(part.op.get(), nullptr, memory.at<const float>(in_),
                                                     memory.at<float>(out_) + part.first),
                    "XNNPACK: setup"));
    return {};
  }

  Status run(Memory& /*memory*/) override {
    std::atomic<xnn_status> failed = xnn_status_success;
    threads_.parallel_for(std::ssize(parts_), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        if (const xnn_status status = xnn_run_operator(parts_[static_cast<std::size_t>(i)].op.get(), nullptr);
            status != xnn_status_success)
          failed = status;
    });
    return xnn_check(failed, "XNNPACK: run");
  }

 private:
  ThreadPool& threads_;
  std::vector<Part> parts_;
  BufferId in_;
  BufferId out_;
};

Part make_part(const Channels& channels, const Window2d& window, std::int64_t batch, std::int64_t count,
               const float* weights, const float* bias, const Clamp& clamp, pthreadpool_t pool) {
  const auto u32 = [](std::int64_t size) { return static_cast<std::uint32_t>(size); };
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const WindowAxis& h = window.height;
  const WindowAxis& v = window.width;
  xnn_operator_t raw = nullptr;
  const xnn_status created = xnn_create_convolution2d_nhwc_f32(
      u32(h.pad_begin), u32(v.pad_end), u32(h.pad_end), u32(v.pad_begin), u32(h.kernel), u32(v.kernel),
      u32(h.stride), u32(v.stride), u32(h.dilation), u32(v.dilation), u32(channels.groups),
      size(channels.inputs / channels.groups), size(count / channels.groups), size(channels.inputs),
      size(channels.outputs), weights, bias, clamp.min, clamp.max, 0, nullptr, nullptr, &raw);
  Part part{.op = XnnOperator(raw), .pool = pool};
  std::size_t alignment = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  if (created != xnn_status_success ||
      xnn_reshape_convolution2d_nhwc_f32(raw, size(batch), size(h.input), size(v.input),
                                         &part.workspace_bytes, &alignment, &height, &width,
                                         pool) != xnn_status_success ||
      height != size(h.output) || width != size(v.output))
    part.op = nullptr;
  return part;
}

Result<bool> lower(Lowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const bool quantized, lower_between_quantized(lowering, node));
  if (quantized) return true;
  const ValueId x = node.inputs[0];
  const Tensor* w = lowering.constant(node.inputs[1]);
  if (w == nullptr || w->dtype() != DType::float32 || w->elements() == 0 || !lowering.is_float(x) ||
      !lowering.is_float(node.outputs[0]))
    return false;
  const Tensor* b = nullptr;
  if (lowering.has_input(node, 2)) {
    b = lowering.constant(node.inputs[2]);
    if (b == nullptr || b->dtype() != DType::float32) return false;
  }
  const Shape x_shape = lowering.shape(x);
  const auto window = window2d(node, x_shape, w->shape());
  const auto group = read_group(node);
  if (!window || !group.ok()) return false;

  const float* bias = b == nullptr ? nullptr : b->values<float>().data();
  const FloatConv conv{x, x_shape, w, bias, *window, *group};
  DRIFTSCOPE_TRY(const bool by_winograd, lower_by_winograd(lowering, node, conv));
  if (by_winograd) return true;
  DRIFTSCOPE_TRY(const bool by_rows, lower_by_rows(lowering, node, conv));
  if (by_rows) return true;
  const Fusion fusion = lowering.with_activation(node);
  DRIFTSCOPE_TRY(const Tensor weights, channels_innermost(*w));
  const Shape y_shape = lowering.shape(fusion.output);
  const std::int64_t outputs = w->shape()[0];
  const std::int64_t inputs = w->elements() / outputs;  // inputs per output
  const std::int64_t pixels = element_count(y_shape) / outputs;
  const std::int64_t at_once = *group == 1 ? outputs_at_once(outputs, inputs, pixels) : outputs;

  std::vector<Part> parts;
  for (std::int64_t first = 0; first < outputs; first += at_once) {
    const std::int64_t count = std::min(at_once, outputs - first);
    Part part =
        make_part({x_shape[1], outputs, *group}, *window, x_shape[0], count,
                  weights.values<float>().data() + first * inputs, bias == nullptr ? nullptr : bias + first,
                  fusion.clamp, at_once < outputs ? nullptr : lowering.pool_for(pixels * inputs * count));
    if (part.op == nullptr || (at_once < outputs && part.workspace_bytes > 0)) return false;
    part.first = first;
    parts.push_back(std::move(part));
  }

  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, channels_last(x_shape)));
  const BufferId out = lowering.write(fusion.output, channels_last(y_shape));
  if (parts.size() > 1) {
    PlannedStep planned;
    planned.reads = {in};
    planned.writes = {out};
    planned.step = std::make_unique<PartsStep>(lowering.threads(), std::move(parts), in, out);
    lowering.emit(std::move(planned));
  } else {
    Part& whole = parts.front();
    const BufferId workspace = lowering.scratch(whole.workspace_bytes);
    lowering.emit(std::move(whole.op), whole.pool, {in}, {out, workspace},
                  [=](xnn_operator_t it, const Memory& memory) {
                    return xnn_setup_convolution2d_nhwc_f32(
                        it, memory.address(workspace), memory.at<const float>(in), memory.at<float>(out));
                  });
  }
  lowering.absorb(fusion);
  return true;
}

void add_to(FastOperatorTable& table) { table.add("Conv", lower); }

}  // namespace driftscope::fast::conv
