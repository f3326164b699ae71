// The generator with models that are functions, and what counts as covered.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/mutants/generator.hpp"

namespace driftscope::test::generator_test {
namespace {

Activations at(float neuron, float output = 0.0f) { return {.neurons = {neuron}, .outputs = {output, 0.5f}}; }

TEST_CASE("Coverage_Kmnc_CountsSectionsOfTheRange") {
  const std::vector<Activations> originals = {at(0.0f), at(10.0f), at(5.0f)};
  const auto coverage = make_coverage(Criterion::kmnc, originals);
  CHECK(coverage->adds(at(0.004f)));
  CHECK_FALSE(coverage->adds(at(0.009f)));  // the same hundredth
  CHECK(coverage->adds(at(0.011f)));
  CHECK(coverage->adds(at(10.0f)));
  CHECK_FALSE(coverage->adds(at(9.999f)));
  CHECK_FALSE(coverage->adds(at(10.001f)));
  CHECK_FALSE(coverage->adds(at(-1.0f)));
  CHECK_FALSE(coverage->adds(at(std::numeric_limits<float>::quiet_NaN())));
  CHECK(coverage->share() == doctest::Approx(0.003));
  coverage->forget();
  CHECK(coverage->share() == 0);
  CHECK(coverage->adds(at(0.004f)));
}

TEST_CASE("Coverage_Nbc_CountsWhatLiesBeyond") {
  const std::vector<Activations> originals = {at(0.0f), at(10.0f)};
  const auto coverage = make_coverage(Criterion::nbc, originals);
  CHECK_FALSE(coverage->adds(at(3.0f)));
  CHECK(coverage->adds(at(10.005f)));
  CHECK_FALSE(coverage->adds(at(10.008f)));
  CHECK(coverage->adds(at(-0.005f)));  // the other side is apart
  CHECK(coverage->adds(at(1e9f)));
  CHECK_FALSE(coverage->adds(at(2e9f)));
  CHECK(coverage->share() == doctest::Approx(3.0 / 22));
  // A neuron that never changed.
  const auto constant = make_coverage(Criterion::nbc, std::vector<Activations>{at(1.0f)});
  CHECK_FALSE(constant->adds(at(1.0f)));
  CHECK(constant->adds(at(1.01f)));
}

TEST_CASE("Coverage_Neighbour_KeepsOutputsThatAreApart") {
  const auto coverage = make_coverage(Criterion::neighbour, std::vector<Activations>{at(0.0f)});
  CHECK(coverage->adds(at(0, 0.0f)));
  CHECK_FALSE(coverage->adds(at(0, 1.0f)));
  CHECK(coverage->adds(at(0, 1.01f)));
  CHECK_FALSE(coverage->adds(at(0, 0.5f)));
  CHECK_FALSE(coverage->adds(at(0, std::numeric_limits<float>::infinity())));
}

TEST_CASE("Limits_AreThoseOfDeepHunter") {
  CHECK(within_limits(15, 255, 784));  // 2 % are 15.68
  CHECK_FALSE(within_limits(16, 51, 784));
  CHECK(within_limits(784, 50, 784));
}

std::vector<StoredPicture> pictures(int count) {
  std::vector<StoredPicture> all;
  Rng rng(3);
  for (int i = 0; i < count; ++i) {
    StoredPicture one{.channels = 1, .height = 12, .width = 12, .pixels = {}};
    for (int k = 0; k < 144; ++k) one.pixels.push_back(static_cast<std::uint8_t>(60 + rng.below(120)));
    all.push_back(std::move(one));
  }
  return all;
}

/// Means of rows are the neurons; the class is 0 unless the picture is rather dark.
Activations model(const StoredPicture& picture) {
  Activations run;
  float all = 0.0f;
  for (int y = 0; y < 12; ++y) {
    float sum = 0.0f;
    for (int x = 0; x < 12; ++x) sum += picture.pixels[static_cast<std::size_t>(y * 12 + x)];
    run.neurons.push_back(sum / 12);
    all += sum / 144;
  }
  run.outputs = {all / 10, 10.0f, run.neurons[0]};
  run.outputs[2] = -1.0f;
  return run;
}

struct Made {
  std::vector<Generated> kept;
  GenerateCounts counts;
  bool stuck = false;
};

Made generate(const MutantsOptions& options, Activations (*run)(const StoredPicture&),
              std::vector<std::int64_t> labels = std::vector<std::int64_t>(6, 0)) {
  const auto originals = pictures(static_cast<int>(labels.size()));
  std::vector<Activations> runs;
  for (const StoredPicture& one : originals) runs.push_back(run(one));
  Generator generator(originals, std::move(labels), runs, options);
  for (;;) {
    const auto offered = generator.next();
    if (offered.empty()) break;
    CHECK(offered.size() <= Generator::batch_size);
    runs.clear();
    for (const Generated& one : offered) runs.push_back(run(one.picture));
    generator.judge(runs);
  }
  return {generator.kept(), generator.counts(), generator.stuck()};
}

TEST_CASE("Generator_MakesWhatIsAskedForAndReplays" * doctest::test_suite("large")) {
  const auto originals = pictures(6);
  for (const auto method : {GenerateMethod::deephunter, GenerateMethod::tensorfuzz}) {
    const MutantsOptions options{.method = method, .count = 100, .seed = 5};
    const Made made = generate(options, model);
    CHECK_FALSE(made.stuck);
    REQUIRE(made.kept.size() == 100);
    CHECK(made.counts.tried >= 100);
    for (const Generated& one : made.kept) {
      const StoredPicture& original = originals[static_cast<std::size_t>(one.original)];
      REQUIRE(replay(original, one.chain).ok());
      CHECK(*replay(original, one.chain) == one.picture);
      CHECK_FALSE(one.picture == original);
      int moves = 0;
      for (const MutationStep& step : one.chain) {
        const MutationKind kind = mutation_table().find(step.name)->kind;
        CHECK((kind == MutationKind::white_noise) == (method == GenerateMethod::tensorfuzz));
        moves += kind == MutationKind::affine ? 1 : 0;
      }
      CHECK(moves <= 1);
    }
    const Made again = generate(options, model);
    const Made other = generate({.method = method, .count = 100, .seed = 6}, model);
    CHECK(again.kept[99].picture == made.kept[99].picture);
    CHECK_FALSE(other.kept[0].chain == made.kept[0].chain);
  }
}

TEST_CASE("Generator_OfValuesAlone_StaysWithinTheLimits") {
  const auto originals = pictures(6);
  const Made made = generate({.count = 400, .seed = 8}, model);
  int looked_at = 0;
  for (const Generated& one : made.kept) {
    bool moved = false;
    for (const MutationStep& step : one.chain)
      moved = moved || mutation_table().find(step.name)->kind == MutationKind::affine;
    if (moved) continue;
    ++looked_at;
    const auto& original = originals[static_cast<std::size_t>(one.original)].pixels;
    std::int64_t changed = 0;
    int largest = 0;
    for (std::size_t i = 0; i < original.size(); ++i) {
      changed += original[i] != one.picture.pixels[i] ? 1 : 0;
      largest = std::max(largest, std::abs(int{original[i]} - int{one.picture.pixels[i]}));
    }
    CHECK(within_limits(changed, largest, original.size()));
  }
  CHECK(looked_at > 20);
}

TEST_CASE("Generator_WhereNothingIsNew_Ends") {
  const auto constant = [](const StoredPicture&) { return at(1.0f, 3.0f); };
  const Made nothing = generate({.count = 10}, constant);
  CHECK(nothing.stuck);
  CHECK(nothing.kept.empty());
  // Nothing to start from: the model is wrong about all.
  const Made wrong = generate({.count = 10}, model, std::vector<std::int64_t>(6, 2));
  CHECK(wrong.stuck);
  CHECK(wrong.counts.tried == 0);
}

// Of originals that the model gets wrong none is mutated, nor are failed mutants.
TEST_CASE("Generator_MutatesWhatIsRight") {
  std::vector<std::int64_t> labels(6, 0);
  labels[2] = 1;
  const Made made = generate({.count = 100}, model, labels);
  for (const Generated& one : made.kept) CHECK(one.original != 2);
}

}  // namespace
}  // namespace driftscope::test::generator_test
