// Mutations: by hand where they can be, the same bits everywhere, and replayed.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "core/base/sha256.hpp"
#include "core/mutants/mutation.hpp"

namespace driftscope::test::mutation_test {
namespace {

StoredPicture picture(std::int64_t channels, std::int64_t height, std::int64_t width, std::uint64_t seed) {
  StoredPicture made{.channels = channels, .height = height, .width = width, .pixels = {}};
  Rng rng(seed);
  for (std::int64_t i = 0; i < channels * height * width; ++i)
    made.pixels.push_back(static_cast<std::uint8_t>(rng.below(256)));
  return made;
}

StoredPicture row(std::vector<std::uint8_t> pixels) {
  const auto width = std::ssize(pixels);
  return {.channels = 1, .height = 1, .width = width, .pixels = std::move(pixels)};
}

StoredPicture mutated(const StoredPicture& from, const std::string& name, double parameter,
                      std::uint64_t seed = 1) {
  const std::vector<MutationStep> chain = {{name, parameter, seed}};
  const auto result = replay(from, chain);
  REQUIRE(result.ok());
  return *result;
}

TEST_CASE("Mutations_DoWhatTheirNamesSay") {
  CHECK(mutated(row({250, 100, 3}), "brightness", 10).pixels == std::vector<std::uint8_t>{255, 110, 13});
  CHECK(mutated(row({250, 100, 3}), "brightness", -10).pixels == std::vector<std::uint8_t>{240, 90, 0});
  CHECK(mutated(row({250, 100, 3}), "contrast", 0.5).pixels == std::vector<std::uint8_t>{125, 50, 2});
  CHECK(mutated(row({10, 100, 40}), "blur", 7).pixels == std::vector<std::uint8_t>{10, 40, 40});
  CHECK(mutated(row({0, 0, 90, 0, 0}), "blur", 1).pixels == std::vector<std::uint8_t>{0, 30, 30, 30, 0});
  CHECK(mutated(row({0, 0, 64, 0, 0}), "blur", 4).pixels == std::vector<std::uint8_t>{0, 16, 32, 16, 0});
  const StoredPicture square = picture(2, 9, 9, 3);
  const StoredPicture moved = mutated(square, "translation", 2);
  for (int c = 0; c < 2; ++c)
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 9; ++x) {
        const auto at = [&](const StoredPicture& of, int r, int s) { return of.pixels[(c * 9 + r) * 9 + s]; };
        CHECK(at(moved, y, x) == (y < 2 || x < 2 ? 0 : at(square, y - 2, x - 2)));
      }
  for (const char* const name : {"translation", "rotation", "shear"})
    CHECK(mutated(square, name, 0) == square);
  CHECK(mutated(square, "scale", 1) == square);
  // The middle row and the middle pixel stay where they are.
  const StoredPicture sheared = mutated(square, "shear", 0.5);
  CHECK(sheared.pixels[4 * 9 + 3] == square.pixels[4 * 9 + 3]);
  CHECK(mutated(square, "rotation", 37).pixels[4 * 9 + 4] == square.pixels[4 * 9 + 4]);
  // Counter-clockwise: what is right of the middle goes up.
  StoredPicture dot = square;
  std::fill(dot.pixels.begin(), dot.pixels.end(), std::uint8_t{0});
  dot.pixels[4 * 9 + 7] = 200;
  const StoredPicture turned = mutated(dot, "rotation", 45);
  CHECK(turned.pixels[2 * 9 + 6] > 100);
  CHECK(turned.pixels[6 * 9 + 6] == 0);
}

TEST_CASE("Mutations_AreBoundedAndPure") {
  const StoredPicture original = picture(3, 32, 32, 5);
  for (const Mutation& mutation : mutation_table().all()) {
    CAPTURE(mutation.name);
    Rng rng(9);
    bool changed = false;
    for (int i = 0; i < 20; ++i) {
      const double parameter = mutation.parameter(rng);
      const std::uint64_t seed = rng.next() >> 11;
      const StoredPicture result = mutation.apply(original, original, parameter, Rng(seed));
      CHECK(result.pixels.size() == original.pixels.size());
      CHECK(result == mutated(original, std::string(mutation.name), parameter, seed));
      changed = changed || result != original;
    }
    CHECK(changed);
  }
  // White noise stays near the original, moved as it was.
  const StoredPicture moved = mutated(original, "translation", 2);
  std::vector<MutationStep> chain(6, {"white_noise", 25.5, 3});
  chain[0] = {"white_noise", 25.5, 4};
  chain[1] = {"translation", 2, 1};
  const auto noisy = replay(original, chain);
  REQUIRE(noisy.ok());
  int largest = 0;
  for (std::size_t i = 0; i < moved.pixels.size(); ++i)
    largest = std::max(largest, std::abs(int{noisy->pixels[i]} - int{moved.pixels[i]}));
  CHECK(largest == 51);
  CHECK_FALSE(replay(original, std::vector<MutationStep>{{"melt", 1, 1}}).ok());
}

// Every host makes the same set from a seed: the bits of all mutations, as one hash.
TEST_CASE("Mutations_AreTheSameBitsEverywhere") {
  StoredPicture made = picture(3, 28, 28, 7);
  std::vector<std::byte> all;
  for (const Mutation& mutation : mutation_table().all()) {
    Rng rng(11);
    for (int i = 0; i < 5; ++i) {
      const double parameter = mutation.parameter(rng);
      const StoredPicture result = mutation.apply(made, made, parameter, rng);
      const auto bytes = std::as_bytes(std::span(result.pixels));
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
  }
  CHECK(sha256_hex(all) == "7cd0c168825ae8a7099caa290c99cd19850dca0404e4e72b44edeacb2820f0e2");
}

}  // namespace
}  // namespace driftscope::test::mutation_test
