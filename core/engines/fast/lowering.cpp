#include "core/engines/fast/lowering.hpp"

#include <array>

namespace driftscope::fast {
namespace {

// Waking another thread takes about as long as this many multiplications and additions.
constexpr std::int64_t min_work_for_threads = 60'000;

// Reading a little beyond a buffer's end must stay inside the arena (XNN_EXTRA_BYTES is 16).
constexpr std::int64_t tail_bytes = 128;

class XnnStep final : public Step {
 public:
  XnnStep(XnnOperator op, pthreadpool_t pool, SetupOperator setup)
      : op_(std::move(op)), pool_(pool), setup_(std::move(setup)) {}
  Status bind(const Memory& memory) override {
    return xnn_check(setup_(op_.get(), memory), "XNNPACK: setup");
  }
  Status run(Memory& /*memory*/) override {
    return xnn_check(xnn_run_operator(op_.get(), pool_), "XNNPACK: run");
  }

 private:
  XnnOperator op_;
  pthreadpool_t pool_;
  SetupOperator setup_;
};

struct TransposeCalls {
  xnn_status (*create)(std::uint32_t, xnn_operator_t*);
  xnn_status (*reshape)(xnn_operator_t, std::size_t, const std::size_t*, const std::size_t*, pthreadpool_t);
  xnn_status (*setup)(xnn_operator_t, const void*, void*);
};

TransposeCalls transpose_calls(std::int64_t element_bytes) {
  switch (element_bytes) {
    case 1: return {xnn_create_transpose_nd_x8, xnn_reshape_transpose_nd_x8, xnn_setup_transpose_nd_x8};
    case 2: return {xnn_create_transpose_nd_x16, xnn_reshape_transpose_nd_x16, xnn_setup_transpose_nd_x16};
    case 4: return {xnn_create_transpose_nd_x32, xnn_reshape_transpose_nd_x32, xnn_setup_transpose_nd_x32};
    default: return {xnn_create_transpose_nd_x64, xnn_reshape_transpose_nd_x64, xnn_setup_transpose_nd_x64};
  }
}

}  // namespace

LowerOperator FastOperatorTable::find(const Node& node) const {
  const auto found = table_.find(node.domain.empty() ? node.op_type : node.domain + "." + node.op_type);
  return found == table_.end() ? nullptr : found->second;
}

pthreadpool_t Lowering::pool_for(std::int64_t work) const {
  return work < min_work_for_threads ? nullptr : pool_;
}

void Lowering::emit(XnnOperator op, pthreadpool_t pool, std::vector<BufferId> reads,
                    std::vector<BufferId> writes, SetupOperator setup, BufferId in_place) {
  emit({.step = std::make_unique<XnnStep>(std::move(op), pool, std::move(setup)),
        .reads = std::move(reads),
        .writes = std::move(writes),
        .in_place = in_place});
}

Result<bool> Lowering::lower_node(const Node& node) {
  const LowerOperator lower_operator = fast_operators().find(node);
  return lower_operator == nullptr ? Result<bool>(false) : lower_operator(*this, node);
}

Status Lowering::emit_conversion(const Conversion& conversion) {
  const bool to_channels_last = conversion.from.plain();
  const Blocks blocks =
      blocks_of(conversion.shape, to_channels_last ? conversion.to.layout : conversion.from.layout);
  const auto n = static_cast<std::size_t>(blocks.batch);
  const auto c = static_cast<std::size_t>(blocks.channels);
  const auto s = static_cast<std::size_t>(blocks.spatial);
  const std::array<std::size_t, 3> dims = {n, to_channels_last ? c : s, to_channels_last ? s : c};
  constexpr std::array<std::size_t, 3> order = {0, 2, 1};
  const TransposeCalls calls = transpose_calls(bits_per_element(conversion.dtype) / 8);
  xnn_operator_t raw = nullptr;
  DRIFTSCOPE_CHECK(xnn_check(calls.create(0, &raw), "XNNPACK: create a transposition"));
  XnnOperator op(raw);
  const pthreadpool_t pool = pool_for(element_count(conversion.shape));
  DRIFTSCOPE_CHECK(
      xnn_check(calls.reshape(raw, 3, dims.data(), order.data(), pool), "XNNPACK: reshape a transposition"));
  emit(std::move(op), pool, {conversion.source}, {conversion.target},
       [calls, in = conversion.source, out = conversion.target](xnn_operator_t it, const Memory& memory) {
         return calls.setup(it, memory.address(in), memory.address(out));
       });
  return {};
}

Result<Tensor> Lowering::arrange(const Constant& constant, Layout to) const {
  DRIFTSCOPE_TRY(Tensor tensor,
                 Tensor::make(constant.tensor.dtype(), constant.shape, std::string(constant.name)));
  DRIFTSCOPE_CHECK(
      reorder(constant.shape, static_cast<std::size_t>(bits_per_element(constant.tensor.dtype()) / 8),
              constant.layout, constant.tensor.bytes().data(), to, tensor.mutable_bytes().data()));
  return tensor;
}

MemoryRules Lowering::memory_rules(Space space) const {
  return space == Space::host ? MemoryRules{.tail_bytes = tail_bytes} : MemoryRules{};
}

}  // namespace driftscope::fast
