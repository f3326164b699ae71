// TensorScatter, opset 24 to 26: a copy of past_cache in which, for each batch b, the positions
// write_indices[b], write_indices[b] + 1, … along `axis` are those of update; mode "circular" goes on at the
// front.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <array>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/domains.hpp"

namespace driftscope::ops::tensor_scatter {

constexpr std::array<std::string_view, 3> names = {"past_cache", "update", "write_indices"};

Result<std::size_t> written_axis(const Node& node, std::size_t rank) {
  DRIFTSCOPE_TRY(const std::string mode, string_attribute(node, "mode", "linear"));
  if (mode != "linear" && mode != "circular")
    return bad_input(fmt::format("attribute mode: expected linear or circular, got \"{}\"", mode));
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", -2));
  auto axis = normalize_axis(given, rank);
  if (!axis.ok()) return in_context(std::move(axis).error(), "attribute axis");
  if (*axis == 0) return bad_input("attribute axis: 0 is that of the batch");
  return *axis;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (const std::size_t i : {0u, 1u}) DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_TRY([[maybe_unused]] const DType dtype, common_dtype(context, std::span(names).first(2)));
  DRIFTSCOPE_CHECK(expect_dtype(context, 2, names[2], {DType::int64}));
  if (const auto& past = context.input(0).shape) {
    DRIFTSCOPE_TRY(const std::size_t axis, written_axis(context.node(), past->size()));
    SymbolicShape expected = *past;
    expected[axis] = dimension_of(context, 1, axis);
    DRIFTSCOPE_CHECK(expect_shape(context, 1, names[1], expected));
    if (expected[axis].known() && (*past)[axis].known() && expected[axis].size > (*past)[axis].size)
      return bad_input(fmt::format("input 1 (update): {} positions along axis {}, the cache has {}",
                                   expected[axis].size, axis, (*past)[axis].size));
    DRIFTSCOPE_CHECK(expect_shape(context, 2, names[2], {(*past)[0]}));
  }
  return std::vector{context.input(0)};
}

struct TensorScatter {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& past = context.shape(0);
    DRIFTSCOPE_TRY(const std::size_t axis, written_axis(context.node(), past.size()));
    DRIFTSCOPE_TRY(const std::string mode, string_attribute(context.node(), "mode", "linear"));
    const std::span<const S> from = context.real(0);
    const std::span<const S> update = context.real(1);
    const std::span<S> to = context.real_output(0);
    std::copy(from.begin(), from.end(), to.begin());
    const std::int64_t inner = element_count(std::span(past).subspan(axis + 1));
    const std::int64_t rows = context.shape(1)[axis];
    const std::int64_t groups = element_count(std::span(past).first(axis));
    for (std::int64_t g = 0; g < groups && past[0] > 0; ++g) {
      const std::int64_t batch = g / (groups / past[0]);
      const std::int64_t first =
          context.has_input(2)
              ? context.tensor(2).template values<std::int64_t>()[static_cast<std::size_t>(batch)]
              : 0;
      if (first < 0 || first >= std::max<std::int64_t>(past[axis], 1) ||
          (mode == "linear" && first > past[axis] - rows))
        return bad_input(
            fmt::format("input 2 (write_indices): element {} is {}: {} positions do not fit in a cache of {}",
                        batch, first, rows, past[axis]));
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto source =
            update.subspan(static_cast<std::size_t>((g * rows + i) * inner), static_cast<std::size_t>(inner));
        std::copy(source.begin(), source.end(),
                  to.begin() + (g * past[axis] + (first + i) % past[axis]) * inner);
      }
    }
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<TensorScatter>({.op_type = "TensorScatter",
                                         .since = 24,
                                         .inputs = {2, 3},
                                         .outputs = {1, 1},
                                         .infer = infer,
                                         .exact_copy = true}));
}

}  // namespace driftscope::ops::tensor_scatter
