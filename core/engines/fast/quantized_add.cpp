#include "core/engines/fast/quantized_add.hpp"

#include "core/engines/fast/simd/quantized_add.hpp"

namespace driftscope::fast {
namespace {

class QuantizedAddStep final : public Step {
 public:
  QuantizedAddStep(AddQuantized add, QuantizedAdd how, std::size_t elements, BufferId a, BufferId b,
                   BufferId y)
      : add_(add), how_(how), elements_(elements), a_(a), b_(b), y_(y) {}
  Status bind(const Memory& memory) override {
    left_ = memory.at<const std::int8_t>(a_);
    right_ = memory.at<const std::int8_t>(b_);
    result_ = memory.at<std::int8_t>(y_);
    return {};
  }
  Status run(Memory& /*memory*/) override {
    add_(left_, right_, how_, result_, elements_);
    return {};
  }

 private:
  AddQuantized add_;
  QuantizedAdd how_;
  std::size_t elements_;
  BufferId a_;
  BufferId b_;
  BufferId y_;
  const std::int8_t* left_ = nullptr;
  const std::int8_t* right_ = nullptr;
  std::int8_t* result_ = nullptr;
};

}  // namespace

Result<bool> lower_sum_between_quantized(Lowering& lowering, const Node& node) {
  const auto a = dequantized(lowering, node.inputs[0]);
  const auto b = dequantized(lowering, node.inputs[1]);
  const auto y = quantized_behind(lowering, node);
  if (!a || !b || !y || a->how.scales.size() != 1 || b->how.scales.size() != 1) return false;
  const auto shape = lowering.value(a->source).static_shape();
  if (!shape || element_count(*shape) == 0 || lowering.value(b->source).static_shape() != shape ||
      lowering.constant(a->source) != nullptr || lowering.constant(b->source) != nullptr)
    return false;
  const QuantizedAdd how{.a_scale = a->how.scale(),
                         .b_scale = b->how.scale(),
                         .y_scale = y->how.scale(),
                         .a_zero = as_int8(a->how.zero_point, a->how.dtype),
                         .b_zero = as_int8(b->how.zero_point, b->how.dtype),
                         .y_zero = as_int8(y->how.zero_point, y->how.dtype),
                         .min = as_int8(y->min, y->how.dtype),
                         .max = as_int8(y->max, y->how.dtype)};
  Layout layout = lowering.layout(a->source);
  if (layout.plain()) layout = lowering.layout(b->source);
  DRIFTSCOPE_TRY(const BufferId left, read_int8(lowering, a->source, layout));
  DRIFTSCOPE_TRY(const BufferId right, read_int8(lowering, b->source, layout));
  const Int8Output out = write_int8(lowering, y->fusion.output, layout);
  lowering.emit({.step = std::make_unique<QuantizedAddStep>(add_quantized(lowering.simd()), how,
                                                            static_cast<std::size_t>(element_count(*shape)),
                                                            left, right, out.buffer),
                 .reads = {left, right},
                 .writes = {out.buffer}});
  finish_int8(lowering, out);
  lowering.absorb(y->fusion);
  return true;
}

}  // namespace driftscope::fast
