// MatMulInteger with constant weights (int8_product.hpp): models that are quantized while they run.
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "core/engines/fast/int8_product.hpp"
#include "core/engines/fast/lowering.hpp"
#include "core/ops/shared/quantization.hpp"

namespace driftscope::fast::integer_matmul {

class Int8ProductStep final : public Step {
 public:
  Int8ProductStep(Int8Product product, BufferId a, BufferId zero, bool a_signed, BufferId y, BufferId scratch)
      : product_(std::move(product)),
        in_(a),
        zero_in_(zero),
        a_signed_(a_signed),
        out_(y),
        scratch_(scratch) {}

  Status bind(const Memory& memory) override {
    a_ = memory.at<const std::uint8_t>(in_);
    zero_ = zero_in_ == no_buffer ? nullptr : memory.at<const std::uint8_t>(zero_in_);
    y_ = memory.at<std::int32_t>(out_);
    space_ = memory.address(scratch_);
    return {};
  }
  Status run(Memory& /*memory*/) override {
    std::int32_t zero = 0;
    if (zero_ != nullptr) zero = a_signed_ ? std::int32_t{static_cast<std::int8_t>(*zero_)} : *zero_;
    product_.run(a_, zero, y_, space_);
    return {};
  }

 private:
  Int8Product product_;
  BufferId in_, zero_in_;
  bool a_signed_;
  BufferId out_, scratch_;
  const std::uint8_t* a_ = nullptr;
  const std::uint8_t* zero_ = nullptr;
  std::int32_t* y_ = nullptr;
  std::byte* space_ = nullptr;
};

bool is_byte(DType dtype) { return dtype == DType::int8 || dtype == DType::uint8; }

// The zero points of B: 0 where there are none; nothing where they are computed, or not one or one a column.
std::optional<std::vector<std::int32_t>> zeros_of_b(const Lowering& lowering, const Node& node,
                                                    std::int64_t columns) {
  if (!lowering.has_input(node, 3)) return std::vector<std::int32_t>{0};
  const Tensor* const zeros = lowering.constant(node.inputs[3]);
  if (zeros == nullptr || (zeros->elements() != 1 && zeros->elements() != columns)) return std::nullopt;
  return quantized_values(*zeros);
}

// One number of A's type, or none.
bool has_one_zero(const Lowering& lowering, const Node& node) {
  if (!lowering.has_input(node, 2)) return true;
  const Value& zero = lowering.value(node.inputs[2]);
  const auto shape = zero.static_shape();
  return shape && element_count(*shape) == 1 && zero.dtype == lowering.value(node.inputs[0]).dtype;
}

Result<bool> lower(Lowering& lowering, const Node& node) {
  const Int8Kernels kernels = int8_kernels(lowering.simd());
  const Tensor* const b = lowering.constant(node.inputs[1]);
  const Value& a = lowering.value(node.inputs[0]);
  const auto shape = a.static_shape();
  if (kernels.columns == 0 || b == nullptr || !is_byte(b->dtype()) || b->rank() != 2 || b->elements() == 0 ||
      !is_byte(a.dtype) || !shape || shape->size() < 2 || element_count(*shape) == 0 ||
      shape->back() != b->shape()[0] || !has_one_zero(lowering, node))
    return false;
  const auto zeros = zeros_of_b(lowering, node, b->shape()[1]);
  if (!zeros) return false;
  const std::int64_t rows = element_count(*shape) / shape->back();
  const bool a_signed = a.dtype == DType::int8;
  // An instruction does 64 products, one of float32 16.
  const std::int64_t work = rows * b->elements() / 4;
  const std::int64_t threads = lowering.pool_for(work) == nullptr ? 1 : lowering.threads().size();
  std::optional<Int8Product> product;
  try {
    product.emplace(*b, *zeros, kernels, rows, a_signed, lowering.threads(), threads);
  } catch (const std::bad_alloc&) {
    return false;
  }
  PlannedStep planned;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(node.inputs[0], {}));
  BufferId zero = no_buffer;
  planned.reads = {in};
  if (lowering.has_input(node, 2)) {
    DRIFTSCOPE_TRY(zero, lowering.read(node.inputs[2], {}));
    planned.reads.push_back(zero);
  }
  const BufferId out = lowering.write(node.outputs[0], {});
  const BufferId space = lowering.scratch(product->scratch());
  planned.writes = {out, space};
  planned.step = std::make_unique<Int8ProductStep>(*std::move(product), in, zero, a_signed, out, space);
  lowering.emit(std::move(planned));
  return true;
}

void add_to(FastOperatorTable& table) { table.add("MatMulInteger", lower); }

}  // namespace driftscope::fast::integer_matmul
