// LSTM, GRU and RNN of GPU engines with random sizes, directions, functions and inputs, judged layer by
// layer.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "tests/native/device/gpu_support.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::gpu_recurrent_test {
namespace {

struct Family {
  const char* op_type;
  std::int64_t gates;
  std::vector<std::string> activations;
};
const std::vector<Family> families = {
    {"RNN", 1, {"Tanh"}}, {"GRU", 3, {"Sigmoid", "Tanh"}}, {"LSTM", 4, {"Sigmoid", "Tanh", "Tanh"}}};

std::vector<float> scaled(std::vector<float> values, float by) {
  for (float& value : values) value *= by;
  return values;
}

Tensor small(Rng& rng, const Shape& shape) {
  const Tensor tensor_of_one = random_tensor(rng, shape);
  const auto values = tensor_of_one.values<float>();
  return tensor<float>(shape, scaled({values.begin(), values.end()}, 0.4f));
}

std::vector<Dim> dims(const Shape& shape) { return {shape.begin(), shape.end()}; }

struct Case {
  ModelBuilder model;
  NamedInputs inputs;
  std::string name;
};

Case random_case(Rng& rng, const Family& family) {
  const auto one_of = [&](std::initializer_list<std::int64_t> sizes) {
    return sizes.begin()[rng.below(sizes.size())];
  };
  const auto coin = [&] { return rng.below(2) == 0; };
  const std::int64_t steps = one_of({1, 2, 5, 9, 19});
  const std::int64_t batch = one_of({1, 2, 3});
  const std::int64_t inputs = one_of({1, 3, 4, 7});
  const std::int64_t hidden = one_of({1, 3, 4, 8, 13});
  const char* direction = std::array{"forward", "reverse", "bidirectional"}[rng.below(3)];
  const std::int64_t directions = std::string_view(direction) == "bidirectional" ? 2 : 1;
  const bool batch_first = coin();
  const bool lstm = family.gates == 4;
  const Shape x_shape = batch_first ? Shape{batch, steps, inputs} : Shape{steps, batch, inputs};
  const Shape state_shape = batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  Case made;
  made.model.input("x", DType::float32, dims(x_shape));
  made.inputs = {{"x", random_tensor(rng, x_shape)}};
  made.model.initializer("w", small(rng, {directions, family.gates * hidden, inputs}))
      .initializer("r", small(rng, {directions, family.gates * hidden, hidden}));
  std::vector<std::string> names = {"x", "w", "r", "", "", "", "", ""};
  if (coin()) {
    made.model.initializer("b", small(rng, {directions, 2 * family.gates * hidden}));
    names[3] = "b";
  }
  for (std::size_t i = 5; i < (lstm ? 7 : 6); ++i)
    if (coin()) {
      names[i] = fmt::format("state{}", i);
      made.model.input(names[i], DType::float32, dims(state_shape));
      made.inputs.push_back({names[i], random_tensor(rng, state_shape)});
    }
  if (lstm && coin()) {
    made.model.initializer("p", small(rng, {directions, 3 * hidden}));
    names[7] = "p";
  }
  while (names.back().empty()) names.pop_back();

  std::vector<Attribute> attributes = {integer("hidden_size", hidden), text("direction", direction),
                                       integer("layout", batch_first ? 1 : 0)};
  if (coin()) attributes.push_back(real("clip", 0.7f));
  if (family.gates == 3) attributes.push_back(integer("linear_before_reset", coin() ? 1 : 0));
  if (lstm) attributes.push_back(integer("input_forget", coin() ? 1 : 0));
  std::string functions = "usual";
  if (rng.below(3) == 0) {
    const std::vector<std::string> others = {"Relu", "Affine",   "LeakyRelu", "ScaledTanh", "HardSigmoid",
                                             "Elu",  "Softsign", "Softplus",  "Tanh",       "Sigmoid"};
    std::vector<std::string> chosen;
    for (std::size_t i = 0; i < family.activations.size() * static_cast<std::size_t>(directions); ++i)
      chosen.push_back(others[rng.below(others.size())]);
    functions = fmt::format("{}", fmt::join(chosen, " "));
    attributes.push_back(texts("activations", chosen));
  }
  std::vector<std::string> outputs = {"y", "h"};
  if (lstm) outputs.emplace_back("c");
  if (rng.below(3) == 0) outputs[0].clear();
  made.name =
      fmt::format("{} {} layout {}, {} steps of {}x{} to {}, functions {}, {} inputs, Y {}", family.op_type,
                  direction, batch_first, steps, batch, inputs, hidden, functions, names.size(), outputs[0]);
  made.model.node(family.op_type, names, outputs, attributes);
  for (const std::string& output : outputs)
    if (!output.empty()) made.model.output(output);
  return made;
}

TEST_CASE("Gpu_RecurrentNodes_OfRandomKinds_AreRight") {
  const std::uint64_t seed = test_seed(21);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(36); ++round) {
    const Case it = random_case(rng, families[static_cast<std::size_t>(round) % families.size()]);
    CAPTURE(it.name);
    check_on_gpu(it.model, it.inputs);
  }
}

TEST_CASE("Gpu_LongSequences_AreRight") {
  Rng rng(22);
  ModelBuilder model;
  model.input("x", DType::float32, {150, 2, 6})
      .initializer("w", small(rng, {2, 3 * 20, 6}))
      .initializer("r", small(rng, {2, 3 * 20, 20}))
      .node("GRU", {"x", "w", "r"}, {"y"}, {integer("hidden_size", 20), text("direction", "bidirectional")})
      .output("y");
  check_on_gpu(model, {{"x", random_tensor(rng, {150, 2, 6})}});
}

}  // namespace
}  // namespace driftscope::test::gpu_recurrent_test
