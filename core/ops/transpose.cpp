// Transpose, opset 1 to 21: axis i of the output is axis perm[i] of the input; reversed by default.
#include <fmt/format.h>

#include <array>
#include <numeric>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/broadcast.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::transpose {

Result<Ints> read_permutation(const Node& node, std::size_t rank) {
  Ints reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  DRIFTSCOPE_TRY(Ints perm, ints_attribute(node, "perm", reversed));
  Ints sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  std::sort(reversed.begin(), reversed.end());
  if (sorted != reversed)
    return bad_input(
        fmt::format("attribute perm: [{}] is not a permutation of the axes of a tensor of "
                    "rank {}",
                    fmt::join(perm, ","), rank));
  return perm;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", Kinds::fixed_size));
  TensorType y{context.input(0).dtype, std::nullopt};
  if (const auto& x = context.input(0).shape) {
    DRIFTSCOPE_TRY(const Ints perm, read_permutation(context.node(), x->size()));
    y.shape.emplace();
    for (const std::int64_t axis : perm) y.shape->push_back((*x)[static_cast<std::size_t>(axis)]);
  }
  return std::vector{std::move(y)};
}

struct Transpose {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& x_shape = context.shape(0);
    const Shape& y_shape = context.output_shape(0);
    DRIFTSCOPE_TRY(const Ints perm, read_permutation(context.node(), x_shape.size()));
    if (element_count(y_shape) == 0) return {};
    const Shape strides = broadcast_strides(x_shape, x_shape);
    std::array<Shape, 1> permuted;
    for (const std::int64_t axis : perm) permuted[0].push_back(strides[static_cast<std::size_t>(axis)]);
    const std::int64_t step = y_shape.empty() ? 0 : permuted[0].back();
    const BroadcastRows extent(y_shape);
    constexpr std::array<std::size_t, 1> inputs = {0};
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      for (std::int64_t row = 0; row < extent.rows; ++row) {
        const auto* source = sources[0].data() + offsets_at(row * extent.columns, y_shape, permuted)[0];
        for (std::int64_t i = 0; i < extent.columns; ++i)
          target[static_cast<std::size_t>(row * extent.columns + i)] = source[i * step];
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Transpose>(
      {.op_type = "Transpose", .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer, .exact_copy = true}));
}

}  // namespace driftscope::ops::transpose
