#include "core/mutants/generator.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace driftscope {
namespace {

constexpr int tries_per_mutant = 50;       // DeepHunter, algorithm 2
constexpr double fuzzed_often = 5;         // γ: each choice of a parent makes the next less likely by 1 ÷ γ,
constexpr float least_probability = 0.3f;  // down to this
constexpr std::int64_t window = 100;       // batches after which is looked at what they brought
constexpr double least_yield = 0.01;       // share of mutants that must cover something new

struct Distance {
  std::int64_t changed = 0;
  int largest = 0;
};

Distance distance(const StoredPicture& a, const StoredPicture& b) {
  Distance result;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    const int apart = std::abs(int{a.pixels[i]} - int{b.pixels[i]});
    result.changed += apart != 0 ? 1 : 0;
    result.largest = std::max(result.largest, apart);
  }
  return result;
}

std::int64_t class_of(const std::vector<float>& outputs) {
  return std::ranges::max_element(outputs) - outputs.begin();
}

}  // namespace

bool within_limits(std::int64_t changed, int largest, std::size_t values) {
  constexpr double alpha = 0.02;
  constexpr double beta = 0.2;
  return static_cast<double>(changed) < alpha * static_cast<double>(values) || largest < beta * 255;
}

Generator::Generator(std::vector<StoredPicture> originals, std::vector<std::int64_t> labels,
                     std::span<const Activations> runs, const MutantsOptions& options)
    : options_(options), labels_(std::move(labels)), rng_(options.seed) {
  assert(!originals.empty() && originals.size() == runs.size() && originals.size() == labels_.size());
  if (options_.method == GenerateMethod::tensorfuzz) options_.criterion = Criterion::neighbour;
  for (const Mutation& mutation : mutation_table().all())
    if ((mutation.kind == MutationKind::white_noise) == (options_.method == GenerateMethod::tensorfuzz))
      mutations_.push_back(&mutation);
  coverage_ = make_coverage(options_.criterion, runs);
  for (std::size_t i = 0; i < originals.size(); ++i) {
    // Only what the model gets right is mutated: what it gets wrong says nothing about a change.
    const bool covers = coverage_->adds(runs[i]);
    if (class_of(runs[i].outputs) != labels_[i]) continue;
    if (options_.method == GenerateMethod::tensorfuzz && !covers) continue;
    Parent parent;
    parent.original = static_cast<std::int64_t>(i);
    parent.reference = originals[i];
    parent.picture = std::move(originals[i]);
    parents_.push_back(std::move(parent));
  }
  stuck_ = parents_.empty();
}

std::size_t Generator::choose() {
  if (options_.method == GenerateMethod::tensorfuzz) return rng_.below(parents_.size());
  for (;;) {
    place_ = place_ >= parents_.size() ? 0 : place_;
    const std::size_t at = place_++;
    const double often = static_cast<double>(parents_[at].times);
    const double probability = std::max<double>(least_probability, 1 - often / fuzzed_often);
    if (static_cast<double>(rng_.uniform()) < probability) return at;
  }
}

std::optional<Generator::Parent> Generator::mutant(const Parent& parent) {
  for (int i = 0; i < tries_per_mutant; ++i) {
    const Mutation& mutation = *mutations_[rng_.below(mutations_.size())];
    const bool affine = mutation.kind == MutationKind::affine;
    if (affine && parent.moved) continue;
    const double parameter = mutation.parameter(rng_);
    const std::uint64_t seed = rng_.next() >> 11;  // exact as a number of JSON
    StoredPicture picture = mutation.apply(parent.picture, parent.reference, parameter, Rng(seed));
    if (picture == parent.picture) continue;
    if (mutation.kind == MutationKind::values) {
      const Distance now = distance(parent.reference, picture);
      if (!within_limits(parent.changed + now.changed, std::max(parent.largest, now.largest),
                         picture.pixels.size()))
        continue;
    }
    Parent child;
    child.original = parent.original;
    child.chain = parent.chain;
    child.chain.push_back({std::string(mutation.name), parameter, seed});
    child.moved = parent.moved || affine;
    child.changed = parent.changed;
    child.largest = parent.largest;
    if (affine) {
      // From now on the limit is on the distance from the original moved in the same way, and counts what was
      // changed before (equation 2).
      const Distance before = distance(parent.reference, parent.picture);
      child.changed = before.changed;
      child.largest = before.largest;
      child.reference = mutation.apply(parent.reference, parent.reference, parameter, Rng(seed));
    } else {
      child.reference = parent.reference;
    }
    child.picture = std::move(picture);
    return child;
  }
  return std::nullopt;
}

std::span<const Generated> Generator::next() {
  offered_.clear();
  drawn_.clear();
  while (offered_.empty() && !stuck_ && !done()) {
    std::size_t chosen = choose();
    ++parents_[chosen].times;
    for (std::size_t i = 0; i < batch_size; ++i) {
      // TensorFuzz's mutants of one parent have much the same outputs: few of them would be kept.
      if (options_.method == GenerateMethod::tensorfuzz && i > 0) chosen = choose();
      std::optional<Parent> child = mutant(parents_[chosen]);
      if (!child) continue;
      offered_.push_back({child->original, child->chain, child->picture, -1});
      drawn_.push_back(*std::move(child));
    }
    if (offered_.empty()) end_batch();
  }
  return offered_;
}

void Generator::judge(std::span<const Activations> runs) {
  assert(runs.size() == offered_.size());
  for (std::size_t i = 0; i < runs.size() && !done(); ++i) {
    ++counts_.tried;
    ++tried_in_window_;
    if (!coverage_->adds(runs[i])) continue;
    offered_[i].answer = class_of(runs[i].outputs);
    // A failed test is kept and not mutated further (DeepHunter, algorithm 1).
    if (offered_[i].answer == labels_[static_cast<std::size_t>(offered_[i].original)])
      parents_.push_back(std::move(drawn_[i]));
    kept_.push_back(std::move(offered_[i]));
    ++kept_in_window_;
  }
  end_batch();
}

void Generator::end_batch() {
  if (++batches_ % window != 0) return;
  // Hardly anything within reach is left: coverage is counted from nothing again. If even then nothing covers
  // anything, it never will.
  const bool from_nothing = std::exchange(forgot_, false);
  if (static_cast<double>(kept_in_window_) < least_yield * static_cast<double>(tried_in_window_) ||
      tried_in_window_ == 0) {
    stuck_ = from_nothing && kept_in_window_ == 0;
    coverage_->forget();
    forgot_ = true;
    ++counts_.rounds;
  }
  kept_in_window_ = tried_in_window_ = 0;
}

}  // namespace driftscope
