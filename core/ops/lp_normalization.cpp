// LpNormalization, opset 1 to 28: x / ‖x‖ₚ along `axis` (default the last), p 1 or 2. A lane of zeros stays
// zeros. ONNX says so from opset 22 on; before, anything is within the bound of such a lane.
//
// Strict definition (float): the norm by reduce_sum over the axis (whatever its stride), a division.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/numerics/lane_sum.hpp"
#include "core/ops/shared/lanes.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::lp_normalization {

struct Options {
  std::size_t axis = 0;
  bool squares = true;
};

Result<Options> read_options(const Node& node, std::size_t rank) {
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", -1));
  DRIFTSCOPE_TRY(const std::int64_t p, int_attribute(node, "p", 2));
  if (p != 1 && p != 2) return bad_input(fmt::format("attribute p: expected 1 or 2, got {}", p));
  auto axis = normalize_axis(given, rank);
  if (!axis.ok()) return in_context(std::move(axis).error(), "attribute axis");
  return Options{*axis, p == 2};
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::floating));
  if (const auto& shape = context.input(0).shape)
    if (auto options = read_options(context.node(), shape->size()); !options.ok())
      return std::move(options).error();
  return std::vector{context.input(0)};
}

template <class S>
void normalize(std::span<S> lane, bool squares, bool zeros_are_open) {
  const std::span<const S> values = lane;
  const S norm = squares ? math::sqrt(sum_of_squares(values, true))
                         : sum_of(values, true, [](const S& x) { return math::abs(x); });
  if constexpr (std::is_same_v<S, Bounded>) {
    const Bounded reciprocal = Bounded(1.0) / norm;  // a factor or a divisor
    for (Bounded& x : lane) {
      if (norm.value != 0.0)
        x = x * reciprocal;
      else if (zeros_are_open || norm.worst != 0.0)
        x = {0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    }
  } else {
    if (norm == S(0)) return;
    for (S& x : lane) x = x / norm;
  }
}

struct LpNormalization {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Options options, read_options(context.node(), context.shape(0).size()));
    if (context.real(0).empty()) return {};
    map_lanes<S>(context, Lanes::along(context.shape(0), options.axis), context.real(0),
                 context.real_output(0),
                 [&](std::span<S> lane) { normalize(lane, options.squares, context.opset() < 22); });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<LpNormalization>(
      {.op_type = "LpNormalization", .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::lp_normalization
