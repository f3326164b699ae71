// Real bugs, planted one at a time into one node of a correct engine: the verdict must name that node
// and no other. Modelled on bugs found in runtimes (wrong padding side, missing bias, …).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/verify/imitation.hpp"
#include "tests/unit/verify/small_nets.hpp"

namespace driftscope::test::planted_faults_test {
namespace {

using Inputs = std::span<const Tensor* const>;
using Outputs = std::vector<Tensor>;

// The node computed with a changed attribute.
Imitation::Fault with_attribute(Attribute attribute) {
  return [attribute](const Imitation& engine, const Node& node, Inputs inputs, Outputs& outputs) {
    Node changed = node;
    std::erase_if(changed.attributes.edit(), [&](const Attribute& a) { return a.name == attribute.name; });
    changed.attributes.push_back(attribute);
    Outputs wrong = engine.compute(changed, inputs);
    REQUIRE(wrong[0].shape() == outputs[0].shape());
    outputs = std::move(wrong);
  };
}

// The node computed with one of its inputs replaced.
Imitation::Fault with_input(std::size_t index, std::function<Tensor(const Tensor&)> change) {
  return [=](const Imitation& engine, const Node& node, Inputs inputs, Outputs& outputs) {
    std::vector<const Tensor*> changed(inputs.begin(), inputs.end());
    const Tensor replaced = change(*inputs[index]);
    changed[index] = &replaced;
    outputs = engine.compute(node, changed);
  };
}

Imitation::Fault on_output(std::function<void(std::span<float>, const Shape&)> spoil) {
  return [=](const Imitation&, const Node&, Inputs, Outputs& outputs) {
    spoil(outputs[0].mutable_values<float>(), outputs[0].shape());
  };
}

Tensor changed(const Tensor& tensor, const std::function<void(std::span<float>)>& change) {
  auto copy = Tensor::from_bytes(tensor.dtype(), tensor.shape(), tensor.bytes());
  REQUIRE(copy.ok());
  change(copy->mutable_values<float>());
  return *copy;
}

Tensor shifted(const Tensor& tensor, std::size_t by) {
  return changed(tensor, [&](std::span<float> v) {
    std::rotate(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(by), v.end());
  });
}

// The taps of a stride-1 convolution read with the stride of another layer: every other output.
void wrong_stride(const Imitation& engine, const Node& node, Inputs inputs, Outputs& outputs) {
  Node dense = node;
  std::erase_if(dense.attributes.edit(), [](const Attribute& a) { return a.name == "strides"; });
  const Outputs all = engine.compute(dense, inputs);
  const Shape& big = all[0].shape();
  const Shape& small = outputs[0].shape();
  const auto from = all[0].values<float>();
  const auto to = outputs[0].mutable_values<float>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto column = static_cast<std::int64_t>(i) % small[3];
    const auto row = static_cast<std::int64_t>(i) / small[3] % small[2];
    const auto plane = static_cast<std::int64_t>(i) / (small[2] * small[3]);
    to[i] = from[static_cast<std::size_t>((plane * big[2] + row) * big[3] + column)];
  }
}

struct Planted {
  std::string name;
  std::string node;
  Imitation::Fault fault;
};

std::vector<Planted> planted_faults() {
  std::vector<Planted> all;
  const auto add = [&](std::string name, std::string node, Imitation::Fault fault) {
    all.push_back({std::move(name), std::move(node), std::move(fault)});
  };
  add("the extra pad on the head", "conv1", with_attribute(text("auto_pad", "SAME_LOWER")));
  add("stride ignored", "conv1", wrong_stride);
  add("bias dropped", "conv2",
      [](const Imitation& engine, const Node& node, Inputs inputs, Outputs& outputs) {
        Node without = node;
        without.inputs.resize(2);
        outputs = engine.compute(without, inputs.first(2));
      });
  add("relu passes negatives", "relu1",
      [](const Imitation&, const Node&, Inputs inputs, Outputs& outputs) { outputs[0] = *inputs[0]; });
  add("maximum starts at 0", "maxpool", on_output([](std::span<float> y, const Shape&) {
        for (float& x : y) x = std::max(x, 0.0f);
      }));
  add("a stale tile", "conv3",
      on_output([](std::span<float> y, const Shape&) { std::fill_n(y.begin() + 8, 8, 0.37f); }));
  add("one channel scaled by 1.001", "conv3", on_output([](std::span<float> y, const Shape& shape) {
        const auto plane = static_cast<std::size_t>(shape[2] * shape[3]);
        for (std::size_t i = 0; i < plane; ++i) y[3 * plane + i] *= 1.001f;
      }));
  add("the last element not written", "conv2",
      on_output([](std::span<float> y, const Shape&) { y.back() = 0.0f; }));
  add("two channels swapped", "conv2", on_output([](std::span<float> y, const Shape& shape) {
        const auto plane = static_cast<std::ptrdiff_t>(shape[2] * shape[3]);
        std::swap_ranges(y.begin(), y.begin() + plane, y.begin() + plane);
      }));
  add("weights read one element off", "conv2", with_input(1, [](const Tensor& w) { return shifted(w, 1); }));
  add("groups ignored by the rows of weights", "conv2",
      with_input(1, [](const Tensor& w) { return shifted(w, 9 * 10 * 3); }));
  add("dilation applied twice", "conv3",
      [](const Imitation& engine, const Node& node, Inputs inputs, Outputs& outputs) {
        Node wrong = node;
        wrong.attributes = {ints("dilations", {4, 4}), ints("pads", {4, 4, 4, 4})};
        outputs = engine.compute(wrong, inputs);
      });
  add("epsilon 0", "norm", with_attribute(real("epsilon", 0.0f)));
  add("statistics of the next channel", "norm",
      with_input(3, [](const Tensor& mean) { return shifted(mean, 1); }));
  add("one input read twice", "add",
      [](const Imitation& engine, const Node& node, Inputs inputs, Outputs& outputs) {
        const Tensor* twice[] = {inputs[0], inputs[0]};
        outputs = engine.compute(node, twice);
      });
  add("upper limit ignored", "clip", with_input(2, [](const Tensor& high) {
        return changed(high, [](std::span<float> v) { v[0] = 1e9f; });
      }));
  add("padding counted", "average", with_attribute(integer("count_include_pad", 1)));
  add("a fast approximate sigmoid", "sigmoid", on_output([](std::span<float> y, const Shape&) {
        for (float& x : y) x = x * (1.0f + 0x1p-19f);
      }));
  add("inputs in the other order", "concat", on_output([](std::span<float> y, const Shape&) {
        std::rotate(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(y.size() / 2), y.end());
      }));
  add("divided by one less", "pool", on_output([](std::span<float> y, const Shape&) {
        for (float& x : y) x = x * 26.0f / 25.0f;
      }));
  add("matrix taken as transposed", "gemm", with_input(1, [](const Tensor& w) {
        return changed(w, [](std::span<float> v) {
          const std::vector<float> old(v.begin(), v.end());
          for (std::size_t i = 0; i < v.size(); ++i) v[i] = old[i % 80 * 32 / 80 * 80 % v.size()];
        });
      }));
  add("half of the inner axis skipped", "matmul", with_input(0, [](const Tensor& x) {
        return changed(x, [](std::span<float> v) {
          std::fill(v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end(), 0.0f);
        });
      }));
  add("maximum not taken off and a sum cut short", "softmax", on_output([](std::span<float> y, const Shape&) {
        for (float& x : y) x = x * 1.0001f;
      }));
  add("a NaN among the outputs", "tanh",
      on_output([](std::span<float> y, const Shape&) { y[5] = std::numeric_limits<float>::quiet_NaN(); }));
  return all;
}

void check_only(const Verification& verification, const std::string& node) {
  CHECK(verification.verdict == Verdict::fault);
  CHECK(verification.first_fault == node);
  for (const LayerVerdict& layer : verification.layers) {
    CAPTURE(layer.node);
    CAPTURE(verdict_name(layer.verdict));
    CAPTURE(layer.budget_used);
    CAPTURE(reason_of(layer));
    const bool expected =
        layer.node == node ? layer.verdict == Verdict::fault : layer.verdict < Verdict::suspect;
    CHECK(expected);
  }
}

}  // namespace

TEST_CASE("Verify_PlantedFault_NamesThatNodeAndNoOther" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(7);
  SEED_INFO(seed);
  Rng rng(seed);
  const Shape shape = {1, 3, 18, 14};
  const Graph graph = convolutional_net(rng, shape);
  const Tensor input = drawn(shape, Kind::normal, rng);
  ThreadPool threads(2);
  std::size_t turn = 0;
  for (const Planted& planted : planted_faults()) {
    CAPTURE(planted.name);
    const auto& arithmetics = correct_arithmetics();
    Imitation engine(graph, arithmetics[turn++ % arithmetics.size()]);
    engine.plant(planted.node, planted.fault);
    const auto verification = verify(graph, "", engine.run({{"x", input}}), threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    check_only(*verification, planted.node);
  }
}

TEST_CASE("Verify_LowPrecisionArithmetic_NamesThatNodeAndNoOther" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(8);
  SEED_INFO(seed);
  Rng rng(seed);
  const Shape shape = {2, 3, 20, 20};
  const Graph graph = convolutional_net(rng, shape);
  const Tensor input = drawn(shape, Kind::normal, rng);
  ThreadPool threads(2);
  for (const Arithmetic& wrong : {bfloat16_factors(), half_accumulator(), truncating()})
    for (const char* node : {"conv1", "conv2", "conv3"}) {
      // Truncation shows only in the mean; conv3 has too few positions for that.
      if (wrong.name == "truncating" && node == std::string("conv3")) continue;
      CAPTURE(wrong.name);
      Imitation engine(graph, correct_arithmetics()[3]);
      engine.compute_with(node, wrong);
      const auto verification = verify(graph, "", engine.run({{"x", input}}), threads);
      REQUIRE_MESSAGE(verification.ok(), verification.error().message);
      check_only(*verification, node);
    }
}

TEST_CASE("Verify_FusedGroup_IsJudgedAsOne" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(9);
  SEED_INFO(seed);
  Rng rng(seed);
  const Shape shape = {1, 3, 16, 16};
  const Graph graph = convolutional_net(rng, shape);
  const Tensor input = drawn(shape, Kind::normal, rng);
  ThreadPool threads(2);
  for (const Arithmetic& arithmetic : correct_arithmetics())
    for (const bool faulty : {false, true}) {
      CAPTURE(arithmetic.name);
      Imitation engine(graph, arithmetic);
      // conv2 + norm + add + clip leave one tensor; so do gemm + tanh.
      for (const char* value : {"c2", "n2", "s", "d"}) engine.hide(value);
      if (faulty) engine.plant("conv2", on_output([](std::span<float> y, const Shape&) { y[7] += 0.01f; }));
      const auto verification = verify(graph, "", engine.run({{"x", input}}), threads);
      REQUIRE_MESSAGE(verification.ok(), verification.error().message);
      CHECK(verification->layers.size() == 13);
      const auto clip = std::find_if(verification->layers.begin(), verification->layers.end(),
                                     [](const LayerVerdict& l) { return l.node == "clip"; });
      REQUIRE(clip != verification->layers.end());
      CHECK(clip->group == std::vector<std::string>{"conv2", "norm", "add"});
      if (faulty) {
        check_only(*verification, "clip");
      } else {
        CHECK(verification->verdict == Verdict::rounding);
      }
    }
}

}  // namespace driftscope::test::planted_faults_test
