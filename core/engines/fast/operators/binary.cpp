// Add, Sub, Mul, Div, Max and Min of two, PRelu, with broadcasting: in the layout of the operand that has
// the shape of the result, so that nothing is transposed for them.
#include <pthreadpool.h>

#include <algorithm>
#include <array>

#include "core/engines/fast/lowering.hpp"
#include "core/engines/fast/quantized_add.hpp"
#include "core/engines/fast/simd/add.hpp"
#include "core/graph/legacy.hpp"

namespace driftscope::fast::binary {

// The shape with ones in front, in the order of memory of `layout`.
Shape aligned(const Shape& shape, std::size_t rank, bool channels_last) {
  Shape padded(rank - shape.size(), 1);
  padded.insert(padded.end(), shape.begin(), shape.end());
  if (channels_last) std::rotate(padded.begin() + 1, padded.begin() + 2, padded.end());
  return padded;
}

// Whether moving axis 1 behind the others leaves the order of the elements as it is.
bool moves_nothing(const Shape& shape, std::size_t rank) {
  const Shape padded = aligned(shape, rank, false);
  return padded[1] == 1 ||
         std::all_of(padded.begin() + 2, padded.end(), [](std::int64_t size) { return size == 1; });
}

// The layout for all operands: that of the first with the result's shape, if the others can follow.
Layout common_layout(const Lowering& lowering, const Node& node, const Shape& y) {
  Layout layout;
  for (std::size_t i = 0; i < 2; ++i) {
    const ValueId id = node.inputs[i];
    if (layout.plain() && lowering.shape(id) == y && !same_order(y, lowering.layout(id), {}))
      layout = lowering.layout(id);
  }
  if (layout.plain()) return layout;
  const bool images = y.size() > 2 && layout == channels_last(y);
  for (std::size_t i = 0; i < 2; ++i) {
    const Shape shape = lowering.shape(node.inputs[i]);
    const bool follows = shape == y || element_count(shape) == 1 ||
                         (images && (shape.size() == y.size() || moves_nothing(shape, y.size())));
    if (!follows) return {};
  }
  return layout;
}

struct Operand {
  BufferId buffer = no_buffer;
  std::vector<std::size_t> dims;
  bool whole = false;  // has the shape of the result
};

Result<Operand> operand(Lowering& lowering, ValueId id, const Shape& y, Layout layout) {
  const Shape shape = lowering.shape(id);
  Operand result;
  result.whole = shape == y;
  Layout wanted;
  if (!layout.plain()) {
    if (result.whole)
      wanted = layout;
    else if (element_count(shape) > 1 && !moves_nothing(shape, y.size()))
      wanted = channels_last(shape);
  }
  DRIFTSCOPE_TRY(result.buffer, lowering.read(id, wanted));
  const bool images = !layout.plain() && y.size() > 2;
  for (const std::int64_t size : aligned(shape, y.size(), images))
    result.dims.push_back(static_cast<std::size_t>(size));
  return result;
}

// Adjacent axes count as one if both sizes are the result's, or one operand's are 1 on all of them.
template <xnn_binary_operator kind>
Result<bool> lower(Lowering& lowering, const Node& node) {
  if (node.inputs.size() != 2 || node.attribute(broadcast_axis) != nullptr) return false;
  const ValueId output = node.outputs[0];
  if (!lowering.is_float(node.inputs[0]) || !lowering.is_float(node.inputs[1]) || !lowering.is_float(output))
    return false;
  const Shape y = lowering.shape(output);
  if (y.size() > XNN_MAX_TENSOR_DIMS) return false;
  xnn_operator_t raw = nullptr;
  if (xnn_create_binary_elementwise_nd(kind, xnn_datatype_fp32, nullptr, nullptr, nullptr, 0, &raw) !=
      xnn_status_success)
    return false;
  XnnOperator op(raw);
  const Layout layout = common_layout(lowering, node, y);
  DRIFTSCOPE_TRY(const Operand a, operand(lowering, node.inputs[0], y, layout));
  DRIFTSCOPE_TRY(const Operand b, operand(lowering, node.inputs[1], y, layout));
  const pthreadpool_t pool = lowering.pool_for(element_count(y));
  if (xnn_reshape_binary_elementwise_nd(raw, a.dims.size(), a.dims.data(), b.dims.size(), b.dims.data(),
                                        pool) != xnn_status_success)
    return false;
  const BufferId out = lowering.write(output, layout);
  lowering.emit(
      std::move(op), pool, {a.buffer, b.buffer}, {out},
      [=, x = a.buffer, z = b.buffer](xnn_operator_t it, const Memory& memory) {
        return xnn_setup_binary_elementwise_nd(it, memory.address(x), memory.address(z), memory.address(out));
      },
      a.whole   ? a.buffer
      : b.whole ? b.buffer
                : no_buffer);
  return true;
}

// The sum of two values of one shape and the following activation: XNNPACK would need two passes.
class AddClampedStep final : public Step {
 public:
  AddClampedStep(AddClamped add, pthreadpool_t pool, Clamp clamp, std::size_t elements, BufferId a,
                 BufferId b, BufferId y)
      : add_(add), pool_(pool), clamp_(clamp), elements_(elements), buffers_{a, b, y} {}

  Status bind(const Memory& memory) override {
    a_ = memory.at<const float>(buffers_[0]);
    b_ = memory.at<const float>(buffers_[1]);
    y_ = memory.at<float>(buffers_[2]);
    return {};
  }

  Status run(Memory& /*memory*/) override {
    constexpr std::size_t tile = 8192;
    const auto part = [](void* self, std::size_t begin, std::size_t count) {
      const auto& step = *static_cast<const AddClampedStep*>(self);
      step.add_(step.a_ + begin, step.b_ + begin, step.clamp_.min, step.clamp_.max, step.y_ + begin, count);
    };
    if (pool_ == nullptr)
      part(this, 0, elements_);
    else
      pthreadpool_parallelize_1d_tile_1d(pool_, part, this, elements_, tile, 0);
    return {};
  }

 private:
  AddClamped add_;
  pthreadpool_t pool_;
  Clamp clamp_;
  std::size_t elements_;
  std::array<BufferId, 3> buffers_;
  const float* a_ = nullptr;
  const float* b_ = nullptr;
  float* y_ = nullptr;
};

Result<bool> lower_add(Lowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const bool quantized, lower_sum_between_quantized(lowering, node));
  if (quantized) return true;
  const Fusion fusion = lowering.with_activation(node);
  const ValueId a = node.inputs[0];
  const ValueId b = node.inputs[1];
  if (fusion.nodes.empty() || node.attribute(broadcast_axis) != nullptr || !lowering.is_float(a) ||
      !lowering.is_float(b) || lowering.shape(a) != lowering.shape(b))
    return lower<xnn_binary_add>(lowering, node);
  const Shape y = lowering.shape(a);
  const Layout layout = common_layout(lowering, node, y);
  DRIFTSCOPE_TRY(const BufferId left, lowering.read(a, layout));
  DRIFTSCOPE_TRY(const BufferId right, lowering.read(b, layout));
  const BufferId out = lowering.write(fusion.output, layout);
  const std::int64_t elements = element_count(y);
  lowering.emit({.step = std::make_unique<AddClampedStep>(
                     add_clamped(lowering.simd()), lowering.pool_for(elements), fusion.clamp,
                     static_cast<std::size_t>(elements), left, right, out),
                 .reads = {left, right},
                 .writes = {out},
                 .in_place = left});
  lowering.absorb(fusion);
  return true;
}

void add_to(FastOperatorTable& table) {
  table.add("Add", lower_add);
  table.add("Sub", lower<xnn_binary_subtract>);
  table.add("Mul", lower<xnn_binary_multiply>);
  table.add("Div", lower<xnn_binary_divide>);
  table.add("Max", lower<xnn_binary_maximum>);
  table.add("Min", lower<xnn_binary_minimum>);
  table.add("PRelu", lower<xnn_binary_prelu>);
}

}  // namespace driftscope::fast::binary
