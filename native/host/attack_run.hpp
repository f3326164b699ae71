// Attacks on targets: serves the questions of core/attack with runs of the model, and of its gradient, on any
// host. Client: the command attack.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/attack/attack.hpp"
#include "core/compare/answer_separation.hpp"
#include "native/host/host.hpp"
#include "native/host/inputs.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

struct AttackPlan {
  const ModelFile* model = nullptr;
  const AttackMethod* method = nullptr;
  const GivenDataset* dataset = nullptr;
  std::vector<Target> targets;
  std::int64_t samples = 100;  ///< at most: the first that all targets answer rightly
  double epsilon = 0.0;
  std::int64_t steps = 0;
  std::uint64_t seed = 42;
  /// The gradient runs on the attacked target; otherwise on `gradient_target` for all of them.
  bool white_box = false;
  Target gradient_target{std::string(default_host()), "strict", {}};
  /// Each sample has random numbers of its own, from the seed plus its number: the same whatever else is
  /// attacked with it.
  bool separate = false;
  bool in_8_bits = false;     ///< adversarials are rounded to 8 bits before they are judged
  bool all_steps = false;     ///< samples take all steps, also after a success
  bool as_published = false;  ///< with the method's published_slip
  /// Of the results that two targets answer differently, for so many it is found out which layer separates
  /// them.
  std::int64_t separations = 3;
};

struct AttackedTarget {
  std::string target;
  std::vector<AttackOutcome> outcomes;     ///< in the order of AttackReport::samples
  std::int64_t correct = 0;                ///< of the data set, before
  std::vector<std::int64_t> answers = {};  ///< the class of each success, in their order
};

struct Transferred {
  std::string from, to;
  std::int64_t adversarials = 0;           ///< of `from`
  std::int64_t fooled = 0;                 ///< of them, those that `to` answers wrongly
  std::vector<std::int64_t> answers = {};  ///< the class that `to` says of each
  /// Numbers in the data set of the samples whose result fools only one of the two.
  std::vector<std::int64_t> only_from = {};
  std::vector<std::int64_t> only_to = {};
};

/// A result that two targets answer differently.
struct SeparatedAnswers {
  std::string from, to;
  std::int64_t sample = 0;  ///< its number in the data set
  std::int64_t class_from = 0;
  std::int64_t class_to = 0;
  AnswerSeparation layer = {};
};

struct AttackReport {
  std::vector<std::int64_t> samples;          ///< their numbers in the data set
  std::vector<std::vector<float>> originals;  ///< in the data's units
  std::vector<std::int64_t> labels;
  std::vector<AttackedTarget> targets;
  std::vector<Transferred> transfer;
  std::vector<SeparatedAnswers> separations;  ///< the first AttackPlan::separations of them
  std::int64_t answered_differently = 0;      ///< how many there are
  bool pictures = false;  ///< the samples are pictures that the model's description explains
  Shape shape;            ///< of a sample as the model reads it
};

/// Without outcomes where no sample is answered rightly by all targets. Errors: a data set without labels,
/// a model without a gradient that the method needs, and whatever a run has.
[[nodiscard]] Result<AttackReport> run_attack(const AttackPlan& plan, const RunnerOptions& options,
                                              const TargetProgress& progress);

/// The largest and the Euclidean distance between two inputs, in the data's units.
[[nodiscard]] double linf_distance(std::span<const float> a, std::span<const float> b);
[[nodiscard]] double l2_distance(std::span<const float> a, std::span<const float> b);

}  // namespace driftscope
