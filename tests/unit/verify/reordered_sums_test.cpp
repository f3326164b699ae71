// Every operator that sums, in other orders of summation: the summed axis is shuffled before the
// strict kernel runs and the output is restored, so that the same numbers are summed differently. That is
// rounding, for any numbers; a term left out or an element in the wrong place is not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/verify/verify.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/verify/small_nets.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::reordered_sums_test {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

struct Summed {
  OneNode node;
  std::vector<std::size_t> axes;  ///< of each input: the shuffled axis, or none
  std::size_t restored = none;    ///< the axis of the output that was shuffled with it
  bool mirrored = false;          ///< windows: only reversed as a whole
  std::string name = {};
};

using Order = std::vector<std::int64_t>;

// Element i of the axis is element order[i] of the original, or the other way round.
Tensor shuffled(const Tensor& tensor, std::size_t axis, const Order& order, bool back) {
  const Shape& shape = tensor.shape();
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const std::int64_t size = shape[axis];
  const auto from = tensor.values<float>();
  std::vector<float> to(from.size());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(from.size()); ++i) {
    const std::int64_t at = i / inner % size;
    const std::int64_t other = i + (order[static_cast<std::size_t>(at)] - at) * inner;
    if (back)
      to[static_cast<std::size_t>(other)] = from[static_cast<std::size_t>(i)];
    else
      to[static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(other)];
  }
  return floats(shape, to);
}

enum class Way { reverse, halves, shuffle };
constexpr Way all_ways[] = {Way::reverse, Way::halves, Way::shuffle};

Order order_of(Way way, std::int64_t size, std::uint64_t seed) {
  Order order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  Rng rng(seed);
  if (way == Way::reverse) std::reverse(order.begin(), order.end());
  if (way == Way::halves)  // even ones first
    std::ranges::sort(order, {}, [](std::int64_t i) { return std::pair(i % 2, i); });
  if (way == Way::shuffle)
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

Tensor strict_output(const OneNode& node) {
  const auto results = strict_outputs(node.graph(), node.named());
  REQUIRE_MESSAGE(results.ok(), results.error().message);
  return results->front();
}

Tensor computed(const Summed& summed, Way way, std::uint64_t seed) {
  OneNode other = summed.node;
  for (std::size_t i = 0; i < summed.axes.size(); ++i)
    if (summed.axes[i] != none)
      other.inputs[i] = shuffled(*other.inputs[i], summed.axes[i],
                                 order_of(way, other.inputs[i]->shape()[summed.axes[i]], seed), false);
  const Tensor result = strict_output(other);
  if (summed.restored == none) return result;
  return shuffled(result, summed.restored, order_of(way, result.shape()[summed.restored], seed), true);
}

LayerVerdict verified(const OneNode& node, const Tensor& output) {
  Trace trace;
  trace.tensors = node.named();
  trace.tensors.push_back({"o0", output});
  ThreadPool threads(2);
  const auto verification = verify(node.graph(), "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  REQUIRE(verification->layers.size() == 1);
  return verification->layers[0];
}

// Weights are normal, data of the given kind.
std::vector<Summed> operators_with_sums(Kind kind, Rng& rng) {
  const auto data = [&](Shape shape) { return drawn(std::move(shape), kind, rng); };
  const auto weights = [&](Shape shape) { return drawn(std::move(shape), Kind::normal, rng, 0.2f); };
  const auto pads = ints("pads", {1, 1, 1, 1});
  std::vector<Summed> all;
  const auto add = [&](OneNode node, std::vector<std::size_t> axes, std::size_t restored = none,
                       bool mirrored = false) {
    const std::string name = node.op;
    all.push_back({std::move(node), std::move(axes), restored, mirrored, name});
  };
  add({"Conv", {data({1, 40, 7, 9}), weights({33, 40, 3, 3}), weights({33})}, {pads}}, {1, 1, none});
  add({"Conv",
       {data({2, 6, 9, 9}), weights({30, 3, 3, 3})},
       {pads, integer("group", 2), ints("strides", {2, 2})}},
      {3, 3}, 3, true);
  add({"Conv",
       {data({1, 32, 8, 8}), weights({32, 1, 5, 5})},
       {ints("pads", {2, 2, 2, 2}), integer("group", 32)}},
      {2, 2}, 2, true);
  add({"ConvTranspose",
       {data({1, 24, 5, 6}), weights({24, 7, 3, 3}), weights({7})},
       {ints("strides", {2, 2})}},
      {1, 0, none});
  add({"MatMul", {data({2, 5, 300}), weights({300, 40})}}, {2, 0});
  add({"Gemm",
       {data({120, 9}), weights({35, 120}), weights({35})},
       {integer("transA", 1), integer("transB", 1), real("alpha", 0.7f), real("beta", 0.3f)}},
      {0, 1, none});
  add({"Einsum", {data({2, 40, 6}), weights({2, 40, 5})}, {text("equation", "bji,bjk->bik")}}, {1, 1});
  for (const char* op :
       {"ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"})
    add({op, {data({6, 200, 3}), longs({1})}}, {1, none});
  add({"ReduceProd", {data({6, 20, 3}), longs({1})}}, {1, none});
  for (const char* op : {"Softmax", "LogSoftmax"})
    add({op, {data({6, 90, 3})}, {integer("axis", 1)}}, {1}, 1);
  add({"LayerNormalization", {data({12, 128}), weights({128}), weights({128})}}, {1, 0, 0}, 1);
  add({"GroupNormalization", {data({2, 6, 50}), weights({6}), weights({6})}, {integer("num_groups", 3)}},
      {2, none, none}, 2);
  add({"InstanceNormalization", {data({2, 6, 150}), weights({6}), weights({6})}}, {2, none, none}, 2);
  add({"MeanVarianceNormalization", {data({3, 4, 9, 8})}}, {3}, 3);
  add({"LpNormalization", {data({6, 90})}, {integer("axis", 1)}}, {1}, 1);
  add({"GlobalAveragePool", {data({2, 35, 12, 12})}}, {3});
  add({"AveragePool", {data({1, 8, 13, 13})}, {ints("kernel_shape", {5, 5}), ints("pads", {2, 2, 2, 2})}},
      {3}, 3, true);
  add({"LpPool", {data({1, 8, 12, 12})}, {ints("kernel_shape", {3, 3})}}, {2}, 2, true);
  add({"LRN", {data({1, 20, 5, 5})}, {integer("size", 5), real("alpha", 0.01f)}}, {1}, 1, true);
  add({"SoftmaxCrossEntropyLoss",
       {data({60, 10}), tensor<std::int64_t>({60}, std::vector<std::int64_t>(60, 3))}},
      {0, none});
  return all;
}

// What float32 can represent of these: x² leaves its range at both ends, and the variance of a constant
// is any number near 0. Infinite roots of sums whose exact value is finite are suspect.
Verdict gravest(const std::string& op, Kind kind) {
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::ranges::find(names, op) != names.end();
  };
  if (kind == Kind::huge && is({"LpPool", "ReduceL2"})) return Verdict::suspect;
  if (kind == Kind::huge && is({"LayerNormalization", "GroupNormalization", "InstanceNormalization",
                                "MeanVarianceNormalization", "LpNormalization", "LRN"}))
    return Verdict::unjudged;
  if (kind == Kind::tiny && is({"MeanVarianceNormalization", "LpNormalization", "LpPool", "ReduceL2"}))
    return Verdict::unjudged;
  if (kind == Kind::flat && is({"MeanVarianceNormalization"})) return Verdict::unjudged;
  return Verdict::rounding;
}

}  // namespace

TEST_CASE("Verify_SumsInAnotherOrder_AreRounding" * doctest::test_suite("slow")) {
  const std::uint64_t first = test_seed(61);
  SEED_INFO(first);
  for (std::uint64_t seed = first; seed < first + repetitions(24); ++seed) {
    Rng rng(seed);
    const Kind kind = all_kinds[seed % all_kinds.size()];
    for (const Summed& summed : operators_with_sums(kind, rng))
      for (const Way way : all_ways) {
        if (summed.mirrored && way != Way::reverse) continue;
        const LayerVerdict layer = verified(summed.node, computed(summed, way, seed));
        CAPTURE(seed);
        CAPTURE(summed.name);
        CAPTURE(static_cast<int>(kind));
        CAPTURE(static_cast<int>(way));
        CAPTURE(layer.budget_used);
        CAPTURE(layer.budget_used_statistical);
        CAPTURE(layer.mean_signed_z);
        CAPTURE(reason_of(layer));
        CHECK(layer.verdict <= gravest(summed.name, kind));
      }
  }
}

TEST_CASE("Verify_WrongSums_AreFaults" * doctest::test_suite("large")) {
  const std::uint64_t first = test_seed(62);
  SEED_INFO(first);
  for (std::uint64_t seed = first; seed < first + repetitions(8); ++seed) {
    Rng rng(seed);
    for (const Summed& summed : operators_with_sums(Kind::normal, rng)) {
      CAPTURE(seed);
      CAPTURE(summed.name);
      const auto check_fault = [&](const char* what, const Tensor& output) {
        const LayerVerdict layer = verified(summed.node, output);
        CAPTURE(what);
        CAPTURE(layer.budget_used);
        CHECK(layer.verdict == Verdict::fault);
      };
      // The largest term is not read.
      OneNode shorter = summed.node;
      std::vector<float> x(shorter.inputs[0]->values<float>().begin(),
                           shorter.inputs[0]->values<float>().end());
      *std::max_element(x.begin(), x.end()) = 0.0f;
      shorter.inputs[0] = floats(shorter.inputs[0]->shape(), x);
      check_fault("a term is left out", strict_output(shorter));
      // An element is in its neighbour's place.
      const Tensor right = strict_output(summed.node);
      std::vector<float> y(right.values<float>().begin(), right.values<float>().end());
      if (y.size() < 2) continue;
      std::swap(y[0], y[1]);
      check_fault("two elements are exchanged", floats(right.shape(), y));
    }
  }
}

}  // namespace driftscope::test::reordered_sums_test
