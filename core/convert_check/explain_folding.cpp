// BatchNormalization folded into the weights before it. With y = γ·(Wx + b − μ)/√(σ² + ε) + β, B's weights
// have to be r·W with r = γ/√(σ² + ε) for each channel, and its bias β + r·(b − μ). From the r that B has
// follows the ε that it was folded with: ε' = (γ/r)² − σ².
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/convert_check/explain_parts.hpp"
#include "core/graph/attributes.hpp"
#include "core/model/tensor_elements.hpp"

namespace driftscope::convert {
namespace {

using Numbers = std::vector<double>;

struct Normalization {
  NodeId node = no_node;
  Numbers gamma, beta, mean, variance;
  double epsilon = 1e-5;
};

std::optional<Normalization> normalization_of(const Groups& groups) {
  for (const NodeId id : groups.only_a) {
    const Node& node = groups.node_a(id);
    if (node.op_type != "BatchNormalization" || node.inputs.size() != 5) continue;
    Normalization found;
    found.node = id;
    Numbers* const parts[] = {&found.gamma, &found.beta, &found.mean, &found.variance};
    for (std::size_t i = 0; i < 4; ++i) {
      const auto constant = groups.a.constant(node.inputs[i + 1]);
      if (!constant) return std::nullopt;
      *parts[i] = numbers_of(*constant);
      if (parts[i]->size() != found.gamma.size()) return std::nullopt;
    }
    const auto epsilon = float_attribute(node, "epsilon", 1e-5f);
    if (epsilon.ok()) found.epsilon = static_cast<double>(*epsilon);
    return found;
  }
  return std::nullopt;
}

/// For each output channel the factor between the weights, and what of B's is not a multiple of A's.
struct Factors {
  Numbers ratio;
  double rest = 0.0;
};
std::optional<Factors> factors_of(const Tensor& a, const Tensor& b, std::size_t axis) {
  if (a.shape() != b.shape() || axis >= a.shape().size()) return std::nullopt;
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < a.shape().size(); ++i) inner *= a.shape()[i];
  const auto channels = static_cast<std::size_t>(a.shape()[axis]);
  const Numbers x = numbers_of(a);
  const Numbers y = numbers_of(b);
  const auto channel = [&](std::size_t i) { return i / static_cast<std::size_t>(inner) % channels; };
  Numbers products(channels, 0.0);
  Numbers squares(channels, 0.0);
  double size = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    products[channel(i)] += x[i] * y[i];
    squares[channel(i)] += x[i] * x[i];
    size += y[i] * y[i];
  }
  Factors factors;
  for (std::size_t c = 0; c < channels; ++c)
    factors.ratio.push_back(squares[c] > 0.0 ? products[c] / squares[c] : NAN);
  double rest = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double r = factors.ratio[channel(i)];
    if (std::isfinite(r)) rest += (y[i] - r * x[i]) * (y[i] - r * x[i]);
  }
  factors.rest = size > 0.0 ? std::sqrt(rest / size) : 0.0;
  return factors;
}

double factor(const Normalization& n, std::size_t c, double epsilon) {
  return n.gamma[c] / std::sqrt(n.variance[c] + epsilon);
}

/// The largest relative difference of B's factors from those of this ε.
double misfit(const Normalization& n, const Factors& factors, double epsilon) {
  double largest = 0.0;
  for (std::size_t c = 0; c < factors.ratio.size(); ++c) {
    const double want = factor(n, c, epsilon);
    if (std::isfinite(factors.ratio[c]) && want != 0.0)
      largest = std::max(largest, std::fabs(factors.ratio[c] - want) / std::fabs(want));
  }
  return largest;
}

/// The median of the ε that each channel says.
double epsilon_of(const Normalization& n, const Factors& factors) {
  Numbers each;
  for (std::size_t c = 0; c < factors.ratio.size(); ++c)
    if (std::isfinite(factors.ratio[c]) && factors.ratio[c] != 0.0)
      each.push_back(n.gamma[c] * n.gamma[c] / (factors.ratio[c] * factors.ratio[c]) - n.variance[c]);
  if (each.empty()) return NAN;
  std::ranges::nth_element(each, each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2));
  return each[each.size() / 2];
}

constexpr double same_factor = 2e-6;

/// What B's weights are to those that folding gives.
std::optional<ConstantDifference> folded_difference(const Normalization& n, const Tensor& a, const Tensor& b,
                                                    std::size_t axis) {
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < a.shape().size(); ++i) inner *= a.shape()[i];
  auto folded = Tensor::unwritten(DType::float32, a.shape());
  if (!folded.ok()) return std::nullopt;
  const auto target = folded->mutable_values<float>();
  for (std::size_t i = 0; i < target.size(); ++i) {
    const std::size_t c = i / static_cast<std::size_t>(inner) % n.gamma.size();
    target[i] = static_cast<float>(number_at(a, i) * factor(n, c, n.epsilon));
  }
  return compare_constants(*folded, b);
}

/// A's normalization with the β for which folding gives B's bias q.
std::function<void(Graph&)> with_shift(const Normalization& n, const Numbers& p, const Numbers& q,
                                       double epsilon) {
  auto beta = Tensor::unwritten(DType::float32, {static_cast<std::int64_t>(q.size())});
  if (!beta.ok()) return {};
  const auto values = beta->mutable_values<float>();
  for (std::size_t c = 0; c < q.size(); ++c)
    values[c] = static_cast<float>(q[c] - factor(n, c, epsilon) * (p[c] - n.mean[c]));
  return with_constant(n.node, 2, *std::move(beta));
}

}  // namespace

bool find_folding(const Groups& groups, Reasons& reasons) {
  const auto n = normalization_of(groups);
  if (!n) return false;
  for (const NodePair& nodes : groups.both) {
    const Node& a = groups.node_a(nodes.a);
    const Node& b = groups.node_b(nodes.b);
    if (a.inputs.size() < 2 || b.inputs.size() < 2) continue;
    const auto w = groups.a.constant(a.inputs[1]);
    const auto v = groups.b.constant(b.inputs[1]);
    if (!w || !v) continue;
    const bool product = a.op_type == "Gemm" || a.op_type == "MatMul" || a.op_type == "ConvTranspose";
    const auto factors = factors_of(plain_weights(a, 1, *w), plain_weights(b, 1, *v), product ? 1 : 0);
    if (!factors || factors->ratio.size() != n->gamma.size()) continue;
    const Node& norm = groups.node_a(n->node);
    const auto add = [&](Cause cause, std::string text, std::function<void(Graph&)> apply = {}) {
      reasons.push_back({{0, cause, norm.name, b.name, std::move(text), {}}, std::move(apply)});
    };
    const std::string where =
        fmt::format("BatchNormalization {} folded into {}", in_quotes(norm.name), in_quotes(b.name));
    double epsilon = n->epsilon;
    if (factors->rest > 1e-4) {
      // No multiples: rounded afterwards, or something else altogether.
      const auto difference =
          folded_difference(*n, plain_weights(a, 1, *w), plain_weights(b, 1, *v), product ? 1 : 0);
      if (difference)
        add(difference->cause == Cause::weights ? Cause::folded_wrong : difference->cause,
            fmt::format("{}: compared with γ/√(σ² + ε)·W the weights are {}", where, difference->text));
      return true;
    }
    if (misfit(*n, *factors, n->epsilon) > same_factor) {
      const double found = epsilon_of(*n, *factors);
      if (found >= 0.0 && misfit(*n, *factors, found) < 1e-4) {
        epsilon = found;
        const auto rounded = static_cast<float>(found);
        add(Cause::folded_epsilon,
            fmt::format("{} with another epsilon: expected {:.3g}, the weights say {:.3g}", where, n->epsilon,
                        found),
            [id = n->node, rounded](Graph& graph) {
              auto& attributes = graph.nodes[id].attributes.edit();
              std::erase_if(attributes, [](const Attribute& one) { return one.name == "epsilon"; });
              attributes.push_back({"epsilon", rounded});
            });
      } else {
        add(Cause::folded_wrong,
            fmt::format("{}: B's factors by channel differ from γ/√(σ² + ε) by up to {:.3g}", where,
                        misfit(*n, *factors, n->epsilon)));
      }
    }
    const auto bias_a = a.inputs.size() > 2 ? groups.a.constant(a.inputs[2]) : std::nullopt;
    const auto bias_b = b.inputs.size() > 2 ? groups.b.constant(b.inputs[2]) : std::nullopt;
    const Numbers p = bias_a ? numbers_of(*bias_a) : Numbers(n->gamma.size(), 0.0);
    const Numbers q = bias_b ? numbers_of(*bias_b) : Numbers(n->gamma.size(), 0.0);
    if (p.size() != n->gamma.size() || q.size() != n->gamma.size()) return true;  // not one for each channel
    double apart = 0.0;
    double size = 0.0;
    std::size_t worst = 0;
    for (std::size_t c = 0; c < p.size(); ++c) {
      const double want = n->beta[c] + factor(*n, c, epsilon) * (p[c] - n->mean[c]);
      size = std::max({size, std::fabs(want), std::fabs(n->beta[c])});
      if (std::fabs(want - q[c]) > apart) apart = std::fabs(want - q[c]), worst = c;
    }
    if (apart > 1e-4 * size) {
      const std::string name = bias_b ? "the bias " + in_quotes(groups.b.graph()->value_name(b.inputs[2]))
                                      : "the bias, which is absent,";
      add(Cause::folded_wrong,
          fmt::format("{}: {} is not β + γ(b − μ)/√(σ² + ε): channel {} has {:.6g}, expected {:.6g}", where,
                      name, worst, q[worst],
                      n->beta[worst] + factor(*n, worst, epsilon) * (p[worst] - n->mean[worst])),
          with_shift(*n, p, q, epsilon));
    }
    return true;
  }
  return false;
}

}  // namespace driftscope::convert
