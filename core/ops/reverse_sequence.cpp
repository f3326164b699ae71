// ReverseSequence, opset 10 to 21: along the time axis the first sequence_lens[b] steps of each batch
// entry b are reversed, the rest stay.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::reverse_sequence {

struct Axes {
  std::int64_t batch = 1;
  std::int64_t time = 0;
};

Result<Axes> read_axes(const Node& node) {
  Axes axes;
  DRIFTSCOPE_TRY(axes.batch, int_attribute(node, "batch_axis", 1));
  DRIFTSCOPE_TRY(axes.time, int_attribute(node, "time_axis", 0));
  if ((axes.batch == 0 && axes.time == 1) || (axes.batch == 1 && axes.time == 0)) return axes;
  return bad_input(
      fmt::format("attributes batch_axis and time_axis: expected 0 and 1 or 1 and 0, got "
                  "{} and {}",
                  axes.batch, axes.time));
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::fixed_size));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "input", 2, max_rank));
  DRIFTSCOPE_CHECK(expect_index(context, 1, "sequence_lens"));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, "sequence_lens", 1, 1));
  DRIFTSCOPE_TRY(const Axes axes, read_axes(context.node()));
  const auto& x = context.input(0).shape;
  const auto& lens = context.input(1).shape;
  if (x && lens && !unify((*x)[static_cast<std::size_t>(axes.batch)], lens->front()))
    return bad_input(fmt::format(
        "input 1 (sequence_lens): expected one length for each of the {} entries of axis {}, got {}",
        (*x)[static_cast<std::size_t>(axes.batch)].size, axes.batch, lens->front().size));
  return std::vector{context.input(0)};
}

struct ReverseSequence {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "sequence_lens"));
    DRIFTSCOPE_TRY(const Axes axes, read_axes(context.node()));
    const Shape& x = context.shape(0);
    const std::int64_t steps = x[static_cast<std::size_t>(axes.time)];
    const std::vector<std::int64_t> lens = indices_of(context.tensor(1));
    for (const std::int64_t length : lens)
      if (length < 0 || length > steps)
        return bad_input(fmt::format("input 1 (sequence_lens): length {} is outside [0, {}]", length, steps));
    const std::int64_t inner = element_count(std::span(x).subspan(2));
    const std::int64_t batch_stride = axes.batch == 0 ? steps * inner : inner;
    const std::int64_t time_stride = axes.time == 0 ? static_cast<std::int64_t>(lens.size()) * inner : inner;
    constexpr std::array<std::size_t, 1> inputs = {0};
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      for (std::size_t b = 0; b < lens.size(); ++b)
        for (std::int64_t t = 0; t < steps; ++t) {
          const std::int64_t from = t < lens[b] ? lens[b] - 1 - t : t;
          const std::int64_t base = static_cast<std::int64_t>(b) * batch_stride;
          std::copy_n(sources[0].data() + base + from * time_stride, inner,
                      target.data() + base + t * time_stride);
        }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<ReverseSequence>(
      {.op_type = "ReverseSequence", .since = 10, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::reverse_sequence
