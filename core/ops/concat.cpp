// Concat, opset 4 to 21: along one axis; all other dimensions are equal.
#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::concat {

Result<std::int64_t> read_axis(const Node& node) {
  if (node.attribute("axis") == nullptr) return bad_input("attribute axis: required but absent");
  return int_attribute(node, "axis", 0);
}

// Merges one more shape into the dimensions known so far.
Status join(SymbolicShape& y, const SymbolicShape& x, std::size_t axis, std::size_t index) {
  if (x.size() != y.size())
    return bad_input(fmt::format("input {}: expected rank {} as input 0 has, got shape {}", index, y.size(),
                                 shape_text(x)));
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (i == axis) {
      if (!y[i].known() || !x[i].known()) {
        y[i] = Dimension{};
        continue;
      }
      const auto sum = checked_add(y[i].size, x[i].size);
      if (!sum) return bad_input(fmt::format("axis {}: the sum of the sizes overflows", i));
      y[i] = known_dimension(*sum);
      continue;
    }
    const auto both = unify(y[i], x[i]);
    if (!both)
      return bad_input(
          fmt::format("input {}: expected {} on axis {} as the inputs before it have, got shape {}", index,
                      y[i].size, i, shape_text(x)));
    y[i] = *both;
  }
  return {};
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  std::vector<std::string_view> names(context.input_count(), "inputs");
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!context.has_input(i)) return bad_input(fmt::format("input {}: omitted but required", i));
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::fixed_size));
  }
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  DRIFTSCOPE_TRY(const std::int64_t given, read_axis(context.node()));
  TensorType y{dtype, context.input(0).shape};
  bool all_known = y.shape.has_value();
  for (std::size_t i = 1; i < names.size(); ++i) all_known &= context.input(i).shape.has_value();
  if (!all_known) {
    y.shape.reset();
    return std::vector{std::move(y)};
  }
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, y.shape->size()));
  for (std::size_t i = 1; i < names.size(); ++i)
    DRIFTSCOPE_CHECK(join(*y.shape, *context.input(i).shape, axis, i));
  return std::vector{std::move(y)};
}

struct Concat {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& y_shape = context.output_shape(0);
    DRIFTSCOPE_TRY(const std::int64_t given, read_axis(context.node()));
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, y_shape.size()));
    if (element_count(y_shape) == 0) return {};
    const std::int64_t outer = element_count(std::span(y_shape).first(axis));
    std::vector<std::size_t> inputs(context.input_count());
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = i;
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      auto to = target.begin();
      for (std::size_t row = 0; row < static_cast<std::size_t>(outer); ++row)
        for (const auto& source : sources) {
          const std::size_t chunk = source.size() / static_cast<std::size_t>(outer);
          const auto from = source.subspan(row * chunk, chunk);
          to = std::copy(from.begin(), from.end(), to);
        }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Concat>({.op_type = "Concat",
                                  .since = 4,
                                  .inputs = {1, variadic},
                                  .outputs = {1, 1},
                                  .infer = infer,
                                  .exact_copy = true}));
}

}  // namespace driftscope::ops::concat
