// InstanceNormalization (opset 6 to 21) and GroupNormalization (opset 18 to 21): each sample's channels,
// one by one or in groups, become (X − mean)/√(variance + ε)·scale + bias. Scale and bias are one per
// channel; GroupNormalization of opset 18 to 20 has one per group.
//
// Strict definition (float): moments.hpp. Runtimes take the variance of groups in one pass, in two or in
// Welford's way; for instances CPU runtimes use two passes or Welford's, shaders one: the bound covers these.
#include <fmt/format.h>

#include <array>

#include "core/graph/attributes.hpp"
#include "core/numerics/moments.hpp"
#include "core/ops/shared/reduction.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::group_normalization {

constexpr std::array<std::string_view, 3> names = {"X", "scale", "bias"};

// Parameters: one for each of `expected`.
Status check(const InferContext& context, const Dimension& expected, std::string_view per) {
  for (std::size_t i = 0; i < names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_TRY([[maybe_unused]] const DType dtype, common_dtype(context, names));
  for (std::size_t i = 1; i < names.size(); ++i) {
    DRIFTSCOPE_CHECK(expect_rank(context, i, names[i], 1, 1));
    const auto& shape = context.input(i).shape;
    if (shape && !unify((*shape)[0], expected))
      return bad_input(fmt::format("{}: expected one number for each {}, {}, got shape {}",
                                   input_label(i, names[i]), per, expected.size, shape_text(*shape)));
  }
  return {};
}

Result<std::int64_t> group_count(const Node& node) {
  if (node.attribute("num_groups") == nullptr) return bad_input("attribute num_groups: is missing");
  DRIFTSCOPE_TRY(const std::int64_t groups, int_attribute(node, "num_groups", 0));
  if (groups < 1) return bad_input(fmt::format("attribute num_groups: expected at least 1, got {}", groups));
  return groups;
}

Result<std::vector<TensorType>> infer_instance(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_rank(context, 0, names[0], 2, std::size_t(-1)));
  const auto& x = context.input(0).shape;
  DRIFTSCOPE_CHECK(check(context, x ? (*x)[1] : Dimension{}, "channel"));
  return std::vector{context.input(0)};
}

Result<std::vector<TensorType>> infer_group(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_rank(context, 0, names[0], 2, std::size_t(-1)));
  DRIFTSCOPE_TRY(const std::int64_t groups, group_count(context.node()));
  const auto& x = context.input(0).shape;
  const Dimension channels = x ? (*x)[1] : Dimension{};
  if (channels.known() && channels.size % groups != 0)
    return bad_input(
        fmt::format("attribute num_groups: {} groups cannot share the {} channels of input "
                    "0 (X: shape {})",
                    groups, channels.size, shape_text(*x)));
  const bool per_group = context.opset() < 21;
  DRIFTSCOPE_CHECK(
      check(context, per_group ? known_dimension(groups) : channels, per_group ? "group" : "channel"));
  return std::vector{context.input(0)};
}

// `groups` per sample; `parameters` per sample, each for a run of equally many elements.
template <class S>
void normalize(KernelContext<S>& context, std::int64_t groups, std::int64_t parameters, S epsilon,
               Passes passes) {
  const std::span<const S> x = context.real(0);
  const std::span<S> y = context.real_output(0);
  const std::int64_t sample = static_cast<std::int64_t>(x.size()) / context.shape(0)[0];
  const std::int64_t size = sample / groups;
  const std::int64_t run = sample / parameters;
  context.parallel_for(
      context.shape(0)[0] * groups, lane_grain(size), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t item = begin; item < end; ++item) {
          const std::int64_t first = item * size;
          const auto lane = x.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
          const auto [mean, variance] = moments_of(lane, true, passes);
          const Standardize<S> standardize{mean, inverse_deviation(variance, epsilon)};
          for (std::int64_t i = first; i < first + size; ++i) {
            const auto p = static_cast<std::size_t>(i % sample / run);
            y[static_cast<std::size_t>(i)] =
                standardize(x[static_cast<std::size_t>(i)], context.real(1)[p], context.real(2)[p]);
          }
        }
      });
}

template <class S>
Result<S> read_epsilon(const Node& node) {
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(node, "epsilon", 1e-5f));
  return math::exact<S>(static_cast<double>(epsilon));
}

struct InstanceNormalization {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const S epsilon, read_epsilon<S>(context.node()));
    if (context.real(0).empty()) return {};
    const std::int64_t channels = context.shape(0)[1];
    const bool shader = !current_error_model().rounds_to_nearest;
    normalize(context, channels, channels, epsilon, shader ? Passes::one_or_two : Passes::two);
    return {};
  }
};

struct GroupNormalization {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const S epsilon, read_epsilon<S>(context.node()));
    DRIFTSCOPE_TRY(const std::int64_t groups, group_count(context.node()));
    if (context.real(0).empty()) return {};
    const std::int64_t parameters = context.opset() < 21 ? groups : context.shape(0)[1];
    normalize(context, groups, parameters, epsilon, Passes::one_or_two);
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<InstanceNormalization>({.op_type = "InstanceNormalization",
                                                 .since = 6,
                                                 .inputs = {3, 3},
                                                 .outputs = {1, 1},
                                                 .infer = infer_instance}));
  table.add(with_kernels<GroupNormalization>({.op_type = "GroupNormalization",
                                              .since = 18,
                                              .inputs = {3, 3},
                                              .outputs = {1, 1},
                                              .infer = infer_group}));
}

}  // namespace driftscope::ops::group_normalization
