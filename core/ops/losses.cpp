// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss, opset 12 to 21, forward: −w[t]·x[n, t, …] for the
// target t of each position, the second with x = LogSoftmax(scores) over the classes (axis 1), which is
// also an output. reduction: none, sum, or mean (divided by the sum of the weights w[t] that took part).
// Positions whose target is ignore_index are left out.
//
// Strict definition (float): losses are summed from the first position to the last, weights likewise.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <array>
#include <optional>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/lanes.hpp"
#include "core/ops/shared/log_softmax.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::losses {

constexpr std::array<std::string_view, 3> names = {"input", "target", "weight"};

enum class Reduction { none, sum, mean };

struct Options {
  Reduction reduction = Reduction::mean;
  std::optional<std::int64_t> ignore;
};

Result<Options> read_options(const Node& node) {
  Options options;
  DRIFTSCOPE_TRY(const std::string reduction, string_attribute(node, "reduction", "mean"));
  if (reduction == "none")
    options.reduction = Reduction::none;
  else if (reduction == "sum")
    options.reduction = Reduction::sum;
  else if (reduction != "mean")
    return bad_input(fmt::format("attribute reduction: expected none, sum or mean, got \"{}\"", reduction));
  if (node.attribute("ignore_index") != nullptr) {
    DRIFTSCOPE_TRY(options.ignore, int_attribute(node, "ignore_index", 0));
  }
  return options;
}

Status check_target(const InferContext& context) {
  const DType dtype = context.input(1).dtype;
  if (dtype != DType::undefined && dtype != DType::int32 && dtype != DType::int64)
    return bad_input(fmt::format("input 1 (target): expected int32 or int64, got {}", dtype_name(dtype)));
  const auto& x = context.input(0).shape;
  const auto& target = context.input(1).shape;
  if (!x || !target) return {};
  SymbolicShape expected = *x;
  expected.erase(expected.begin() + 1);
  bool fits = target->size() == expected.size();
  for (std::size_t i = 0; fits && i < expected.size(); ++i)
    fits = unify((*target)[i], expected[i]).has_value();
  if (fits) return {};
  return bad_input(fmt::format("input 1 (target): expected shape {} for input 0 of shape {}, got {}",
                               shape_text(expected), shape_text(*x), shape_text(*target)));
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const Options options, read_options(context.node()));
  DRIFTSCOPE_CHECK(expect_kind(context, 0, names[0], Kinds::floating));
  DRIFTSCOPE_CHECK(expect_kind(context, 2, names[2], Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, names[0], 2, std::size_t(-1)));
  DRIFTSCOPE_CHECK(expect_rank(context, 2, names[2], 1, 1));
  DRIFTSCOPE_CHECK(check_target(context));
  const auto& x = context.input(0).shape;
  if (context.has_input(2) && context.input(2).shape && x && !unify((*context.input(2).shape)[0], (*x)[1]))
    return bad_input(
        fmt::format("input 2 (weight): expected one number for each of the {} classes, "
                    "got shape {}",
                    (*x)[1].size, shape_text(*context.input(2).shape)));
  TensorType loss{context.input(0).dtype, SymbolicShape{}};
  if (options.reduction == Reduction::none) {
    loss.shape = context.input(1).shape;
    if (!loss.shape && x) {
      loss.shape = *x;
      loss.shape->erase(loss.shape->begin() + 1);
    }
  }
  std::vector<TensorType> outputs = {loss, context.input(0)};
  outputs.resize(context.node().outputs.size());
  return outputs;
}

// Every target is a class or ignored.
Result<std::vector<std::int64_t>> read_targets(const Tensor& tensor, std::int64_t classes,
                                               const Options& options) {
  std::vector<std::int64_t> targets(static_cast<std::size_t>(tensor.elements()));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets[i] =
        tensor.dtype() == DType::int32 ? tensor.values<std::int32_t>()[i] : tensor.values<std::int64_t>()[i];
    if (targets[i] == options.ignore)
      targets[i] = -1;
    else if (targets[i] < 0 || targets[i] >= classes)
      return bad_input(fmt::format("input 1 (target): element {} is {}, expected a class in [0, {})", i,
                                   targets[i], classes));
  }
  return targets;
}

template <class S>
S quotient(const S& loss, const Sum<S>& weights, bool weighted, std::int64_t count) {
  const S divisor = weighted ? weights.result() : math::exact<S>(static_cast<double>(count));
  if constexpr (std::is_same_v<S, Bounded>)
    return math::round_more(loss / divisor, 1);
  else
    return loss / divisor;
}

// x: logarithms of probabilities, of the shape of input 0.
template <class S>
Status nll_loss(KernelContext<S>& context, std::span<const S> x, const Options& options) {
  const Shape& shape = context.shape(0);
  const std::int64_t classes = shape[1];
  DRIFTSCOPE_TRY(const auto targets, read_targets(context.tensor(1), classes, options));
  const Lanes lanes = Lanes::along(shape, 1);
  const bool weighted = context.has_input(2);
  Sum<S> losses;
  Sum<S> weights;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::int64_t t = targets[i];
    const bool none = options.reduction == Reduction::none;
    if (t < 0) {
      if (none) context.real_output(0)[i] = S(0);
      continue;
    }
    const std::int64_t at = lanes.first(static_cast<std::int64_t>(i)) + t * lanes.inner;
    const S log_probability = x[static_cast<std::size_t>(at)];
    const S weight = weighted ? context.real(2)[static_cast<std::size_t>(t)] : S(1);
    ++count;
    weights.add(weight);
    if (none) {
      context.real_output(0)[i] = weighted ? -log_probability * weight : -log_probability;
    } else if (weighted) {
      losses.add_product(-log_probability, weight);
    } else {
      losses.add(-log_probability);
    }
  }
  if (options.reduction == Reduction::sum) context.real_output(0)[0] = losses.result();
  if (options.reduction == Reduction::mean)
    context.real_output(0)[0] = quotient(losses.result(), weights, weighted, count);
  return {};
}

struct NegativeLogLikelihoodLoss {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Options options, read_options(context.node()));
    return nll_loss(context, context.real(0), options);
  }
};

struct SoftmaxCrossEntropyLoss {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Options options, read_options(context.node()));
    const std::span<const S> scores = context.real(0);
    std::vector<S> log_probabilities(scores.size());
    if (!scores.empty())
      map_lanes<S>(context, Lanes::along(context.shape(0), 1), scores, std::span<S>(log_probabilities),
                   [](std::span<S> lane) { log_softmax(lane); });
    if (context.wants_output(1))
      std::copy(log_probabilities.begin(), log_probabilities.end(), context.real_output(1).begin());
    return nll_loss(context, std::span<const S>(log_probabilities), options);
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<NegativeLogLikelihoodLoss>({.op_type = "NegativeLogLikelihoodLoss",
                                                     .since = 12,
                                                     .inputs = {2, 3},
                                                     .outputs = {1, 1},
                                                     .infer = infer}));
  table.add(with_kernels<SoftmaxCrossEntropyLoss>({.op_type = "SoftmaxCrossEntropyLoss",
                                                   .since = 12,
                                                   .inputs = {2, 3},
                                                   .outputs = {1, 2},
                                                   .infer = infer}));
}

}  // namespace driftscope::ops::losses
