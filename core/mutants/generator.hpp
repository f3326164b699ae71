// Mutants of a data set that make a model do something new, as study A generated its data: DeepHunter (Xie et
// al., ISSTA 2019) and TensorFuzz (Odena et al., ICML 2019). A state machine: it hands out mutants, the
// client runs the model on them and hands back what it did. Clients: the command, tests. It runs no model and
// reads no files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/rng.hpp"
#include "core/mutants/coverage.hpp"
#include "core/mutants/mutation.hpp"

namespace driftscope {

enum class GenerateMethod { deephunter, tensorfuzz };

struct MutantsOptions {
  GenerateMethod method = GenerateMethod::deephunter;
  Criterion criterion = Criterion::kmnc;
  std::int64_t count = 0;
  std::uint64_t seed = 42;
};

/// How far a mutant may be from its original, moved as it was: fewer than 2 % of the values changed by
/// anything, or all by less than 20 % of 255 (DeepHunter, equation 1 with α = 0.02, β = 0.2).
[[nodiscard]] bool within_limits(std::int64_t changed, int largest, std::size_t values);

/// A mutant that was kept.
struct Generated {
  std::int64_t original = 0;  ///< its number in the data set
  std::vector<MutationStep> chain;
  StoredPicture picture;
  std::int64_t answer = -1;  ///< the model's class
};

struct GenerateCounts {
  std::int64_t tried = 0;   ///< mutants that were run
  std::int64_t rounds = 1;  ///< how often coverage was counted from nothing
};

class Generator {
 public:
  /// `originals` and their labels: at least one, all of one size. `runs`: what the model did with each.
  Generator(std::vector<StoredPicture> originals, std::vector<std::int64_t> labels,
            std::span<const Activations> runs, const MutantsOptions& options);

  /// Mutants to be run, at most `batch_size`. Empty: done, or stuck().
  [[nodiscard]] std::span<const Generated> next();
  /// What the model did with each of them.
  void judge(std::span<const Activations> runs);

  [[nodiscard]] const std::vector<Generated>& kept() const { return kept_; }
  [[nodiscard]] bool done() const { return std::ssize(kept_) >= options_.count; }
  /// No mutant covers anything, not even what was covered before.
  [[nodiscard]] bool stuck() const { return stuck_; }
  [[nodiscard]] const GenerateCounts& counts() const { return counts_; }
  [[nodiscard]] double covered() const { return coverage_->share(); }

  /// For DeepHunter all of one parent, as published.
  static constexpr std::size_t batch_size = 20;

 private:
  /// A picture that may be mutated further.
  struct Parent {
    std::int64_t original = 0;
    std::vector<MutationStep> chain;
    StoredPicture picture;
    StoredPicture reference;   ///< the original after the chain's affine mutation
    bool moved = false;        ///< by an affine one
    std::int64_t changed = 0;  ///< values, before it was moved
    int largest = 0;
    std::int64_t times = 0;  ///< chosen so far
  };

  [[nodiscard]] std::size_t choose();
  /// Nothing: none within the limits was found.
  [[nodiscard]] std::optional<Parent> mutant(const Parent& parent);
  void end_batch();

  MutantsOptions options_;
  std::vector<std::int64_t> labels_;
  Rng rng_;
  std::vector<const Mutation*> mutations_;  ///< of the method
  std::unique_ptr<Coverage> coverage_;
  std::vector<Parent> parents_;
  std::size_t place_ = 0;  ///< among the parents
  std::vector<Parent> drawn_;
  std::vector<Generated> offered_;
  std::vector<Generated> kept_;
  std::int64_t batches_ = 0;
  std::int64_t tried_in_window_ = 0;
  std::int64_t kept_in_window_ = 0;
  bool forgot_ = false;  ///< at the beginning of the window
  bool stuck_ = false;
  GenerateCounts counts_;
};

}  // namespace driftscope
