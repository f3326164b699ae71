#include "core/ops/shared/convolution.hpp"

#include <fmt/format.h>

#include "core/base/checked.hpp"

namespace driftscope {

Result<std::optional<Ints>> kernel_shape(const Node& node, const std::optional<SymbolicShape>& w) {
  DRIFTSCOPE_TRY(Ints kernel, ints_attribute(node, "kernel_shape", {}));
  if (!w) return kernel.empty() ? std::optional<Ints>() : std::optional<Ints>(std::move(kernel));
  const std::size_t rank = w->size() - 2;
  const bool given = node.attribute("kernel_shape") != nullptr;
  if (!given) kernel.assign(rank, -1);
  if (kernel.size() != rank)
    return bad_input(
        fmt::format("attribute kernel_shape: expected {} values as W has, got {}", rank, kernel.size()));
  for (std::size_t i = 0; i < rank; ++i) {
    const Dimension& size = (*w)[i + 2];
    if (given && size.known() && size.size != kernel[i])
      return bad_input(fmt::format("attribute kernel_shape: expected {} on axis {} as W has, got {}",
                                   size.size, i, kernel[i]));
    if (!given) kernel[i] = size.size;
    if (!given && !size.known()) return std::optional<Ints>();
  }
  return std::optional<Ints>(std::move(kernel));
}

Result<std::int64_t> read_group(const Node& node) {
  DRIFTSCOPE_TRY(const std::int64_t group, int_attribute(node, "group", 1));
  if (group < 1 || group > (std::int64_t{1} << 31))
    return bad_input(fmt::format("attribute group: expected at least 1, got {}", group));
  return group;
}

namespace {

Status check_channels(const Dimension& x, const SymbolicShape& w, std::int64_t group,
                      const ConvolutionInputs& inputs) {
  const std::string label = input_label(inputs.w, inputs.names[1]);
  if (w[1].known() && x.known()) {
    const auto expected = checked_mul(w[1].size, group);
    if (!expected || *expected != x.size)
      return bad_input(fmt::format("{}: {} channels × group {} must equal the {} channels of {}", label,
                                   w[1].size, group, x.size, input_label(inputs.x, inputs.names[0])));
  }
  if (w[0].known() && w[0].size % group != 0)
    return bad_input(
        fmt::format("{}: {} output channels cannot be cut into {} groups", label, w[0].size, group));
  return {};
}

}  // namespace

Result<std::optional<SymbolicShape>> infer_convolution(const InferContext& context,
                                                       const ConvolutionInputs& inputs) {
  const auto& [xi, wi, bi, names] = inputs;
  DRIFTSCOPE_CHECK(expect_rank(context, xi, names[0], 3, 34));
  DRIFTSCOPE_CHECK(expect_rank(context, wi, names[1], 3, 34));
  DRIFTSCOPE_CHECK(expect_rank(context, bi, names[2], 1, 1));
  const auto& x = context.input(xi).shape;
  const auto& w = context.input(wi).shape;
  if (x && w && x->size() != w->size())
    return bad_input(fmt::format("{}: expected rank {} as {} has, got shape {}", input_label(wi, names[1]),
                                 x->size(), input_label(xi, names[0]), shape_text(*w)));
  DRIFTSCOPE_TRY(const std::int64_t group, read_group(context.node()));
  DRIFTSCOPE_TRY(const auto kernel, kernel_shape(context.node(), w));
  if (kernel && x && kernel->size() + 2 != x->size())
    return bad_input(
        fmt::format("attribute kernel_shape: expected {} values, got {}", x->size() - 2, kernel->size()));
  if (x && w) DRIFTSCOPE_CHECK(check_channels((*x)[1], *w, group, inputs));
  if (!x && !kernel) return std::optional<SymbolicShape>();

  SymbolicShape y = unknown_shape(x ? x->size() : kernel->size() + 2);
  if (x) y[0] = (*x)[0];
  if (w) y[1] = (*w)[0];
  if (context.has_input(bi) && context.input(bi).shape) {
    const auto channels = unify(y[1], context.input(bi).shape->front());
    if (!channels)
      return bad_input(
          fmt::format("{}: expected {} elements as {} has output channels, "
                      "got shape {}",
                      input_label(bi, names[2]), y[1].size, names[1], shape_text(*context.input(bi).shape)));
    y[1] = *channels;
  }
  if (kernel) {
    DRIFTSCOPE_TRY(const WindowAttributes window, read_window(context.node(), *kernel));
    for (std::size_t axis = 0; axis < kernel->size(); ++axis)
      if (x) {
        DRIFTSCOPE_TRY(y[axis + 2], window_output(window, axis, (*x)[axis + 2]));
      }
  }
  return std::optional<SymbolicShape>(std::move(y));
}

}  // namespace driftscope
