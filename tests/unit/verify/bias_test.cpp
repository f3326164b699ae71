// The mean signed error: truncation is detected, rounding never. Correct engines with every usual order
// run on data whose roundings are alike; the figures are printed.
#include <doctest/doctest.h>

#include <cstdlib>

#include "core/platform/platform.hpp"
#include "core/verify/bias.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/verify/imitation.hpp"
#include "tests/unit/verify/small_nets.hpp"

namespace driftscope::test::bias_test {
namespace {

enum class Weights { normal, four_bits, eight_bits, binary, positive, constant };
const std::vector<Weights> all_weights = {Weights::normal, Weights::four_bits, Weights::eight_bits,
                                          Weights::binary, Weights::positive,  Weights::constant};

Tensor weights(Shape shape, Weights form, Rng& rng) {
  Tensor made = drawn(std::move(shape), Kind::normal, rng);
  for (float& x : made.mutable_values<float>()) switch (form) {
      case Weights::four_bits: x = std::nearbyint(x * 3) * 0.0137f; break;
      case Weights::eight_bits: x = std::nearbyint(x * 40) * 0.00137f; break;
      case Weights::binary: x = x > 0 ? 0.0731f : -0.0731f; break;
      case Weights::positive: x = std::fabs(x); break;
      case Weights::constant: x = 0.0137f; break;
      default: break;
    }
  return made;
}

struct Layer {
  Graph graph;
  Tensor input;
};

// A matrix product with a long inner axis, or a convolution.
Layer layer_of(Kind kind, Weights form, bool convolution, Rng& rng) {
  ModelBuilder model;
  Shape shape;
  if (convolution) {
    shape = {1, 8, 12, 12};
    model.initializer("w", weights({48, 8, 3, 3}, form, rng))
        .initializer("b", drawn({48}, Kind::normal, rng, 0.1f))
        .node("Conv", {"x", "w", "b"}, {"y"});
  } else {
    const auto depth = static_cast<std::int64_t>(64 + rng.below(600));
    shape = {40, depth};
    model.initializer("w", weights({depth, 64}, form, rng)).node("MatMul", {"x", "w"}, {"y"});
  }
  model.input("x", DType::float32, {shape.begin(), shape.end()}).output("y");
  return {built(model), drawn(shape, kind, rng)};
}

double bias_of(const Layer& layer, const Arithmetic& arithmetic, ThreadPool& threads) {
  const Trace trace = Imitation(layer.graph, arithmetic).run({{"x", layer.input}});
  const auto verification = verify(layer.graph, "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  return verification->layers[0].mean_signed_z;
}

}  // namespace

TEST_CASE("Bias_CleanEngines_NeverLean" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(51);
  SEED_INFO(seed);
  // A slow run of many more layers: DRIFTSCOPE_ROUNDS=20.
  const char* rounds_text = std::getenv("DRIFTSCOPE_ROUNDS");
  const int rounds = rounds_text == nullptr ? 1 : std::atoi(rounds_text);
  Rng rng(seed);
  ThreadPool threads(2);
  double largest = 0.0;
  int layers = 0;
  int turn = 0;
  for (int round = 0; round < rounds; ++round)
    for (const Kind kind : all_kinds)
      for (const Weights form : all_weights)
        for (const bool convolution : {false, true}) {
          const Layer layer = layer_of(kind, form, convolution, rng);
          const auto& arithmetics = correct_arithmetics();
          for (int i = 0; i < repetitions(2); ++i) {
            const Arithmetic& arithmetic = arithmetics[turn++ % arithmetics.size()];
            CAPTURE(arithmetic.name);
            CAPTURE(static_cast<int>(kind));
            CAPTURE(static_cast<int>(form));
            const double z = bias_of(layer, arithmetic, threads);
            CHECK(std::fabs(z) <= bias_limit);
            largest = std::max(largest, std::fabs(z));
            ++layers;
          }
        }
  MESSAGE("seed " << seed << ": " << layers << " layers, largest |z| " << largest);
}

TEST_CASE("Bias_Truncation_LeansTowardsZero") {
  const std::uint64_t seed = test_seed(52);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool threads(2);
  double smallest = 1e300;
  for (int i = 0; i < 10; ++i) {
    const Kind kind = i % 2 == 0 ? Kind::normal : Kind::sparse;
    const Layer layer = layer_of(kind, Weights::normal, i % 3 == 0, rng);
    const double z = bias_of(layer, truncating(), threads);
    CAPTURE(static_cast<int>(kind));
    CHECK(z < -bias_limit);
    smallest = std::min(smallest, -z);
  }
  MESSAGE("seed " << seed << ": smallest |z| of truncation " << smallest);
}

TEST_CASE("Bias_FewChannels_TellNothing") {
  const Tensor got = tensor<float>({1, 4}, {1, 1, 1, 1});
  const std::vector<Bounded> reference(4, Bounded(1.001, 1.0, 0.01, 0.0));
  const BiasWitness witness{[] { return std::optional<Tensor>(); }, [] { return 0.0; }};
  CHECK_FALSE(can_tell_bias(got.shape()));
  ThreadPool threads(2);
  const BiasPart samples = take_bias_samples(reference, got.values<float>());
  CHECK(signed_bias_z({samples}, reference, got.shape(), witness, threads) == 0.0);
}

// A flat region of an image repeats the same evidence many times.
TEST_CASE("Bias_OneValueInManyPlaces_CountsOnce") {
  const std::uint64_t seed = test_seed(53);
  SEED_INFO(seed);
  Rng rng(seed);
  const Shape shape = {400, 64};
  const double lean = 0x1p-12;  // a quarter of the statistical budget
  std::vector<double> errors;
  std::vector<bool> flat;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    flat.push_back((i + i / 64) % 4 != 0);
    errors.push_back(flat.back() ? lean : lean * 0.5 * static_cast<double>(rng.normal()));
  }
  ThreadPool threads(2);
  const auto z = [&](bool all_different) {
    std::vector<Bounded> reference;
    std::vector<float> got;
    std::vector<float> plain;  // unbiased
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const bool same = flat[i] && !all_different;
      const double value = same ? 1.0 : 1.0 + static_cast<double>(i) * 0x1p-16;
      reference.emplace_back(value, 1.0, 4.0 * lean, 0.0);
      got.push_back(static_cast<float>(value + errors[i]));
      plain.push_back(static_cast<float>(value));
    }
    const BiasWitness witness{[&] { return std::optional(tensor<float>(shape, plain)); }, [] { return 0.0; }};
    return signed_bias_z({take_bias_samples(reference, got)}, reference, shape, witness, threads);
  };
  CHECK(std::fabs(z(false)) <= bias_limit / 2.0);
  CHECK(z(true) > bias_limit);
}

TEST_CASE("BiasPlaces_AnyNumberOfElements_LieInOrderAndAreFoundAgain") {
  for (const std::int64_t elements :
       {std::int64_t{1}, std::int64_t{1000}, BiasPlaces::max_samples, BiasPlaces::max_samples + 1,
        std::int64_t{1'000'003}, std::int64_t{1} << 34}) {
    CAPTURE(elements);
    const BiasPlaces places(elements);
    CHECK(places.count() == std::min(elements, BiasPlaces::max_samples));
    CHECK(places.first_from(0) == 0);
    CHECK(places.first_from(elements) == places.count());
    std::int64_t before = -1;
    for (std::int64_t k = 0; k < places.count(); k += elements > 1000 ? 97 : 1) {
      const std::int64_t place = places[k];
      REQUIRE(place > before);
      REQUIRE(place < elements);
      REQUIRE(places.first_from(place) == k);
      REQUIRE(places.first_from(place + 1) == k + 1);
      before = place;
    }
  }
}

}  // namespace driftscope::test::bias_test
