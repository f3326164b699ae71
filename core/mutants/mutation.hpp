// Mutations of pictures: small changes that leave a picture what it shows. A mutation is a file in
// mutations/: each FOO.cpp defines `void driftscope::mutations::foo::add_to(MutationTable&)`; the table is
// generated from the folder at configure time, never edited. They compute in double with + − × ÷ and the
// portable functions, so the same bits on every host. Clients: the generator, the tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/rng.hpp"

namespace driftscope {

/// As data sets store it: plane by plane, rows from the top.
struct StoredPicture {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> pixels;
  [[nodiscard]] std::size_t plane() const { return static_cast<std::size_t>(height * width); }
  bool operator==(const StoredPicture&) const = default;
};

/// Affine ones move pixels, at most once in a chain; the others change values where they are: white noise for
/// TensorFuzz alone.
enum class MutationKind { affine, values, white_noise };

struct Mutation {
  int order = 50;  ///< in lists, and in what a seed chooses, ascending
  std::string_view name;
  MutationKind kind = MutationKind::values;
  std::string_view range;  ///< of the parameter, for people: "-3 to 2 pixels"
  double (*parameter)(Rng& rng) = nullptr;
  /// Pure: `rng` is a copy. `reference` is the original, moved as the picture was.
  StoredPicture (*apply)(const StoredPicture& picture, const StoredPicture& reference, double parameter,
                         Rng rng) = nullptr;
};

class MutationTable {
 public:
  void add(const Mutation& mutation);
  /// In their order.
  [[nodiscard]] std::span<const Mutation> all() const { return mutations_; }
  [[nodiscard]] const Mutation* find(std::string_view name) const;

 private:
  std::vector<Mutation> mutations_;
};

/// All of this build (generated: build/generated/mutation_registry.cpp).
[[nodiscard]] const MutationTable& mutation_table();

/// One mutation as it was made, so that it can be made again.
struct MutationStep {
  std::string name;
  double parameter = 0.0;
  std::uint64_t seed = 0;  ///< of what is random in it; below 2⁵³
  bool operator==(const MutationStep&) const = default;
};

/// The picture after all steps. Error: there is no such mutation.
[[nodiscard]] Result<StoredPicture> replay(StoredPicture picture, std::span<const MutationStep> chain);

/// One of `count` values: first, first + step, …
[[nodiscard]] inline double one_of(Rng& rng, double first, double step, std::uint64_t count) {
  return first + step * static_cast<double>(rng.below(count));
}

/// Rounded to the nearest, within 0 to 255.
[[nodiscard]] std::uint8_t pixel_of(double value);

/// x′ = a·(x − cx) + b·(y − cy) + cx + dx and so on, around the centre: where the pixel at (x, y) of the
/// result lies in the source; between pixels linearly, 0 beyond the edges.
struct AffineSource {
  double xx = 1.0, xy = 0.0, dx = 0.0;
  double yx = 0.0, yy = 1.0, dy = 0.0;
};
[[nodiscard]] StoredPicture warped(const StoredPicture& picture, const AffineSource& source);

/// Every pixel with its neighbours weighted by rows × columns of `weights` (their sum is 1), those at the
/// edges repeated beyond them.
[[nodiscard]] StoredPicture smoothed(const StoredPicture& picture, std::span<const double> weights);

}  // namespace driftscope
