// DepthToSpace (mode DCR or, from opset 11, CRD) and SpaceToDepth (the modes from opset 28), to opset 28:
// blocks of channels become blocks of pixels, and back. Both are one strided view of the input.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/strided_view.hpp"

namespace driftscope::ops::depth_to_space {

Result<std::int64_t> read_block(const Node& node) {
  constexpr std::int64_t max_size = std::int64_t{1} << 20;
  DRIFTSCOPE_TRY(const std::int64_t block, int_attribute(node, "blocksize", 0));
  if (block < 1 || block > max_size)
    return bad_input(fmt::format("attribute blocksize: expected 1 to {}, got {}", max_size, block));
  return block;
}

Result<Dimension> divided(const Dimension& size, std::int64_t by, std::size_t axis) {
  if (!size.known()) return by == 1 ? size : Dimension{};
  if (size.size % by != 0)
    return bad_input(
        fmt::format("input 0 (input): axis {} has the size {}, not a multiple of {}", axis, size.size, by));
  return known_dimension(size.size / by);
}

Result<Dimension> multiplied(const Dimension& size, std::int64_t by) {
  const std::array<Dimension, 2> factors = {size, known_dimension(by)};
  return multiply(factors);
}

// `deeper`: SpaceToDepth.
Result<std::vector<TensorType>> infer(const InferContext& context, bool deeper) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::fixed_size));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "input", 4, 4));
  DRIFTSCOPE_TRY(const std::int64_t block, read_block(context.node()));
  TensorType y = context.input(0);
  if (!y.shape) y.shape = unknown_shape(4);
  SymbolicShape& shape = *y.shape;
  if (deeper) {
    DRIFTSCOPE_TRY(shape[1], multiplied(shape[1], block * block));
    DRIFTSCOPE_TRY(shape[2], divided(shape[2], block, 2));
    DRIFTSCOPE_TRY(shape[3], divided(shape[3], block, 3));
  } else {
    DRIFTSCOPE_TRY(shape[1], divided(shape[1], block * block, 1));
    DRIFTSCOPE_TRY(shape[2], multiplied(shape[2], block));
    DRIFTSCOPE_TRY(shape[3], multiplied(shape[3], block));
  }
  return std::vector{std::move(y)};
}

Result<std::vector<TensorType>> infer_to_space(const InferContext& context) { return infer(context, false); }
Result<std::vector<TensorType>> infer_to_depth(const InferContext& context) { return infer(context, true); }

struct DepthToSpace {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const std::int64_t block, read_block(context.node()));
    DRIFTSCOPE_TRY(const std::string mode, string_attribute(context.node(), "mode", "DCR"));
    if (mode != "DCR" && (mode != "CRD" || context.opset() < 11))
      return bad_input(fmt::format("attribute mode: expected DCR or (from opset 11) CRD, got '{}'", mode));
    const Shape& x = context.shape(0);
    const Shape stride = dense_strides(x);
    const std::int64_t channels = x[1] / (block * block);
    // A channel of X is (row in block, column in block, channel) or (channel, row, column).
    const bool first = mode == "DCR";
    const std::int64_t down = (first ? block * channels : block) * stride[1];
    const std::int64_t across = (first ? channels : 1) * stride[1];
    const std::int64_t deep = (first ? 1 : block * block) * stride[1];
    copy_view(context, 0,
              {0,
               {x[0], channels, x[2], block, x[3], block},
               {stride[0], deep, stride[2], down, stride[3], across}});
    return {};
  }
};

struct SpaceToDepth {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const std::int64_t block, read_block(context.node()));
    DRIFTSCOPE_TRY(const std::string mode, string_attribute(context.node(), "mode", "DCR"));
    if (mode != "DCR" && (mode != "CRD" || context.opset() < 28))
      return bad_input(fmt::format("attribute mode: expected DCR or (from opset 28) CRD, got '{}'", mode));
    const Shape& x = context.shape(0);
    const Shape stride = dense_strides(x);
    const std::int64_t rows = x[2] / block;
    const std::int64_t columns = x[3] / block;
    if (mode == "DCR")
      copy_view(context, 0,
                {0,
                 {x[0], block, block, x[1], rows, columns},
                 {stride[0], stride[2], stride[3], stride[1], block * stride[2], block * stride[3]}});
    else
      copy_view(context, 0,
                {0,
                 {x[0], x[1], block, block, rows, columns},
                 {stride[0], stride[1], stride[2], stride[3], block * stride[2], block * stride[3]}});
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<DepthToSpace>(
      {.op_type = "DepthToSpace", .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_to_space}));
  table.add(with_kernels<SpaceToDepth>(
      {.op_type = "SpaceToDepth", .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_to_depth}));
}

}  // namespace driftscope::ops::depth_to_space
