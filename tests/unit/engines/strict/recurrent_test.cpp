// The fast LSTM, GRU and RNN against the plain ones.
#include <doctest/doctest.h>

#include "tests/unit/engines/strict/same_bits.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::recurrent_test {
namespace {

std::int64_t up_to(Rng& rng, std::uint64_t limit) { return 1 + static_cast<std::int64_t>(rng.below(limit)); }

std::string name_of(Rng& rng) {
  const std::array names = {"Sigmoid", "Tanh", "Relu", "Softsign", "HardSigmoid", "Elu"};
  return names[rng.below(names.size())];
}

NodeCase random_recurrent(Rng& rng, const std::string& op) {
  const std::int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  const std::size_t functions = op == "LSTM" ? 3 : op == "GRU" ? 2 : 1;
  const std::int64_t steps = up_to(rng, 7);
  const std::int64_t batch = up_to(rng, 6);
  const std::int64_t inputs = up_to(rng, rng.below(4) == 0 ? 60 : 9);
  const std::int64_t hidden = up_to(rng, rng.below(4) == 0 ? 70 : 20);
  const bool batch_first = rng.below(2) == 0;
  const std::array directions = {"forward", "reverse", "bidirectional"};
  const std::string direction = directions[rng.below(3)];
  const std::int64_t d = direction == "bidirectional" ? 2 : 1;
  const Values v = rng.below(3) == 0 ? Values::special : Values::normal;

  NodeCase result{
      .op_type = op,
      .attributes = {
          {"hidden_size", hidden}, {"direction", direction}, {"layout", std::int64_t{batch_first}}}};
  if (rng.below(3) == 0) result.attributes.push_back({"clip", 0.7f});
  if (rng.below(3) == 0) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < functions * static_cast<std::size_t>(d); ++i) names.push_back(name_of(rng));
    result.attributes.push_back({"activations", names});
  }
  if (op == "LSTM" && rng.below(4) == 0) result.attributes.push_back({"input_forget", std::int64_t{1}});
  if (op == "GRU" && rng.below(2) == 0) result.attributes.push_back({"linear_before_reset", std::int64_t{1}});
  const Shape state = batch_first ? Shape{batch, d, hidden} : Shape{d, batch, hidden};
  result.inputs = {
      random_tensor(rng, batch_first ? Shape{batch, steps, inputs} : Shape{steps, batch, inputs}, v),
      random_tensor(rng, {d, gates * hidden, inputs}, v),
      random_tensor(rng, {d, gates * hidden, hidden}, Values::normal)};
  const auto maybe = [&](Shape shape) -> std::optional<Tensor> {
    if (rng.below(3) == 0) return std::nullopt;
    return random_tensor(rng, std::move(shape), v);
  };
  result.inputs.push_back(maybe({d, 2 * gates * hidden}));
  if (rng.below(2) == 0) {
    std::vector<std::int32_t> lengths;
    for (std::int64_t b = 0; b < batch; ++b)
      lengths.push_back(static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(steps) + 1)));
    result.inputs.push_back(*Tensor::from_values<std::int32_t>({batch}, lengths));
  } else {
    result.inputs.push_back(std::nullopt);
  }
  result.inputs.push_back(maybe(state));
  if (op == "LSTM") {
    result.inputs.push_back(maybe(state));
    result.inputs.push_back(maybe({d, 3 * hidden}));
  }
  result.variable = rng.below(2) == 0 ? 1 : result.inputs.size();
  result.outputs = op == "LSTM" ? 3 : 2;
  return result;
}

void try_many(const std::string& op, std::uint64_t usual) {
  const std::uint64_t seed = test_seed(usual);
  SEED_INFO(seed);
  Rng rng(seed);
  int fast = 0;
  for (int i = 0; i < repetitions(60); ++i) {
    const SameBits result = check_same_bits(random_recurrent(rng, op));
    REQUIRE(result.valid);
    fast += result.fast ? 1 : 0;
  }
  CHECK(fast == repetitions(60));
}

}  // namespace

TEST_CASE("StrictLstm_RandomNodes_GiveThePlainKernelsBits") { try_many("LSTM", 501); }
TEST_CASE("StrictGru_RandomNodes_GiveThePlainKernelsBits") { try_many("GRU", 502); }
TEST_CASE("StrictRnn_RandomNodes_GiveThePlainKernelsBits") { try_many("RNN", 503); }

}  // namespace driftscope::test::recurrent_test
