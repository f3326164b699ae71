// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/causes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/sort_stably.hpp"
#include "core/eval/evaluate.hpp"
#include "core/graph/multiply_adds.hpp"
#include "core/model/element.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/numerics/rounding.hpp"
#include "core/verify/candidate.hpp"
#include "core/verify/coincidence.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope {
namespace {

constexpr double most_work = 2e8;  ///< multiplications and elements, of one variant
constexpr std::size_t most_hypotheses = 10;
constexpr std::size_t with_bounds = 3;  ///< hypotheses that explain a part and get their bounds

/// Multiplications and elements of the layer.
double work_of(const LayerCase& layer, const DerivationInputs& inputs) {
  Graph graph;
  const auto add = [&](DType dtype, const Shape& shape) {
    Value value;
    value.dtype = dtype;
    value.shape.emplace();
    for (const std::int64_t size : shape) value.shape->push_back({size, ""});
    graph.values.push_back(std::move(value));
    return static_cast<ValueId>(graph.values.size() - 1);
  };
  Node node = layer.node();
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (const Tensor* const tensor = inputs.tensor(i)) node.inputs[i] = add(tensor->dtype(), tensor->shape());
  for (ValueId& id : node.outputs)
    if (id != no_value) id = add(layer.got.dtype(), layer.got.shape());
  graph.nodes.push_back(std::move(node));
  return multiply_adds(graph) + static_cast<double>(layer.got.elements()) + 1.0;
}

/// Whether every element is a number of a narrower type.
bool is_stored_as(DType narrow, std::span<const double> values) {
  bool all = true;
  visit_floating(narrow, [&]<class E>() {
    all = std::ranges::all_of(values,
                              [](double x) { return std::isnan(x) || E::to_double(E::nearest(x)) == x; });
  });
  return all;
}

/// One layer's search: what is right, which elements are wrong, and what was tried.
class Search {
 public:
  explicit Search(const LayerCase& layer) : layer_(layer), model_(layer.model()) {
    right_ = layer.right();
    wrong_ = layer.wrong_elements();
    wrong_count_ = std::ranges::count(wrong_, std::uint8_t{1});
    if (floating()) got_ = numbers_of(layer.got);
  }

  [[nodiscard]] bool can_tell() const { return !wrong_.empty(); }

  CauseFound run(const LayerVerdict& verdict, bool precision) {
    CauseFound found;
    LayerExplanation& explanation = found.explanation;
    explanation.node = verdict.node;
    explanation.op = verdict.op;
    explanation.output = verdict.output;
    explanation.verdict = verdict.verdict;
    explanation.elements = layer_.got.elements();
    explanation.wrong = wrong_count_;
    explanation.pattern = error_pattern(wrong_, layer_.got.shape());
    explanation.map = error_map(wrong_, layer_.got.shape(), [&](std::size_t i) { return error_of(i); });
    if (wrong_count_ == 0) return found;  // its errors are too large as a whole
    for (const Variant* const variant : ordered(precision)) {
      if (auto match = try_variant(*variant)) {
        found.variant = variant;
        found.match = *std::move(match);
        break;
      }
    }
    explanation.tried = tried_;
    if (found.variant != nullptr) set_cause(found, verdict.budget_used);
    add_hypotheses(explanation);
    return found;
  }

 private:
  struct Trial {
    const Variant* variant;
    Candidate candidate;
    double promise;  ///< share of the wrong elements that are near what the candidate gives
    std::optional<Hypothesis> known = {};  ///< with its bounds
  };

  static std::vector<const Variant*> ordered(bool precision) {
    std::vector<const Variant*> variants;
    for (const Variant& variant : variant_table().all())
      if (variant.kind == VariantKind::faulty && variant.candidates &&
          (!precision || variant.family == "precision"))
        variants.push_back(&variant);
    sort_stably(variants, [](const Variant* variant) { return variant->order; });
    return variants;
  }

  [[nodiscard]] bool floating() const { return is_floating(layer_.got.dtype()); }

  /// A share of the budget; NaN and infinite where it is none.
  [[nodiscard]] double error_of(std::size_t i) const {
    return floating() ? std::abs(got_[i] - right_[i].value) / right_[i].worst : HUGE_VAL;
  }

  /// Elements that are wrong, evenly chosen.
  [[nodiscard]] std::vector<std::int64_t> wrong_sample() const {
    constexpr std::int64_t most = 256;
    const std::int64_t every = (wrong_count_ + most - 1) / most;
    std::vector<std::int64_t> sample;
    std::int64_t number = 0;
    for (std::size_t i = 0; i < wrong_.size(); ++i)
      if (wrong_[i] != 0 && number++ % every == 0) sample.push_back(static_cast<std::int64_t>(i));
    return sample;
  }

  /// The share of the wrong elements that a movement of the output explains; 1 only if it may explain all
  /// elements.
  [[nodiscard]] double promise_of_movement(const Candidate& candidate) const {
    constexpr double margin = 2.0;
    double near = 0.0;
    bool all = true;
    const auto fits = [&](std::int64_t i) {
      const Bounded want = element_of(candidate, right_, i);
      const double x = got_[static_cast<std::size_t>(i)];
      if (std::isnan(want.value) != std::isnan(x)) return false;
      // Infinities are left to the bounds.
      return !std::isfinite(x) || !std::isfinite(want.value) || is_within_bound(want, x, model_, margin);
    };
    for (const std::int64_t i : sample_) near += fits(i) ? 1.0 : 0.0;
    all = near == static_cast<double>(sample_.size());
    for (std::int64_t i = 0; all && i < layer_.got.elements(); ++i) all = fits(i);
    return std::fmin(near / static_cast<double>(sample_.size()), all ? 1.0 : 0.99);
  }

  /// The same of a candidate that is computed in plain float32; elements are near within the largest bound.
  [[nodiscard]] double promise_of_result(const Tensor& made) const {
    double allowed = 0.0;
    for (const Bounded& x : right_)
      if (std::isfinite(x.worst)) allowed = std::fmax(allowed, x.worst);
    constexpr double margin = 16.0;
    std::int64_t far = 0;
    std::int64_t far_of_wrong = 0;
    const std::vector<double> values = numbers_of(made);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double a = got_[i];
      const double b = values[i];
      const double size = std::fmin(std::fabs(b), model_.largest);
      const bool same = std::fabs(a - b) <= margin * (allowed + rounding_error(model_, size)) ||
                        (std::isnan(a) && std::isnan(b)) || a == b;
      if (same) continue;
      ++far;
      far_of_wrong += wrong_[i];
    }
    const double near = static_cast<double>(wrong_count_ - far_of_wrong) / static_cast<double>(wrong_count_);
    const bool nearly_all = far * 100 <= made.elements();
    return nearly_all ? 1.0 : std::fmin(near, 0.99) * (far > wrong_count_ ? 0.1 : 1.0);
  }

  [[nodiscard]] double promise_of(const Candidate& candidate, const DerivationInputs* inputs) const {
    if (candidate.stored_as != DType::undefined && !is_stored_as(candidate.stored_as, got_)) return 0.0;
    if (candidate.rearranges()) return promise_of_movement(candidate);
    if (candidate.model || candidate.stored_as != DType::undefined || inputs == nullptr) return 1.0;
    const auto made = float_result_of(candidate, layer_, *inputs);
    return made ? promise_of_result(*made) : 0.0;
  }

  /// Integers have no bounds: all elements are equal, or some are not.
  std::optional<VariantMatch> try_exactly(const Variant& variant, Candidate& candidate,
                                          const DerivationInputs& inputs) {
    const auto made = float_result_of(candidate, layer_, inputs);
    if (!made || made->bytes().size() != layer_.got.bytes().size()) return std::nullopt;
    const auto bytes = static_cast<std::size_t>(bits_per_element(made->dtype()) / 8);
    std::int64_t same = 0;
    for (std::size_t i = 0; i < wrong_.size(); ++i)
      same += std::memcmp(made->bytes().data() + i * bytes, layer_.got.bytes().data() + i * bytes, bytes) == 0
                  ? 1
                  : 0;
    // A wrong integer is one of at least two.
    const double chance = std::pow(0.5, static_cast<double>(wrong_count_)) * static_cast<double>(tried_);
    if (same == layer_.got.elements() && chance <= most_chance)
      return VariantMatch{{}, std::move(candidate.parameters), std::move(candidate.detail), chance};
    keep(variant, std::move(candidate), static_cast<double>(same) / static_cast<double>(wrong_.size()), same,
         0.0);
    return std::nullopt;
  }

  std::optional<VariantMatch> try_variant(const Variant& variant) {
    if (!concerns(variant, layer_)) return std::nullopt;
    if (!variant.any_operator && layer_.in_group() != variant.fuses) return std::nullopt;
    const DerivationInputs* const inputs = layer_.in_group() ? nullptr : layer_.known_inputs();
    std::vector<Candidate> candidates = variant.candidates(layer_);
    if (inputs == nullptr && !variant.fuses)
      std::erase_if(candidates, [](const Candidate& candidate) { return !candidate.rearranges(); });
    if (!floating())
      std::erase_if(candidates, [&](const Candidate& candidate) {
        return candidate.rearranges() || candidate.model || candidate.stored_as != DType::undefined ||
               variant.fuses;
      });
    // Those that take long are left out, the last ones first.
    if (!candidates.empty() && !candidates[0].rearranges() && inputs != nullptr) {
      if (work_ == 0.0) work_ = work_of(layer_, *inputs);
      candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(most_work / work_)));
    }
    tried_ += static_cast<std::int64_t>(candidates.size());
    for (Candidate& candidate : candidates) {
      if (!floating()) {
        if (auto match = try_exactly(variant, candidate, *inputs)) return match;
        continue;
      }
      if (sample_.empty()) sample_ = wrong_sample();
      const double promise = promise_of(candidate, inputs);
      if (promise < 1.0) {
        keep(variant, std::move(candidate), promise);
        continue;
      }
      if (auto match = try_bounds(variant, candidate, inputs)) return match;
    }
    return std::nullopt;
  }

  std::optional<VariantMatch> try_bounds(const Variant& variant, Candidate& candidate,
                                         const DerivationInputs* inputs) {
    static const DerivationInputs none;
    const auto computed = bounds_of(candidate, layer_, inputs == nullptr ? none : *inputs);
    if (!computed) return std::nullopt;
    const auto use = use_of(*computed, candidate, layer_);
    const double chance =
        std::fmin(1.0, chance_of(*computed, variant, candidate.stored_as) * static_cast<double>(tried_));
    const bool fits = use && use->worst <= 1.0 && use->likely <= 1.0;
    if (fits && chance <= most_chance)
      return VariantMatch{*use, std::move(candidate.parameters), std::move(candidate.detail), chance};
    const std::int64_t explained = count_within(*computed);
    if (explained > layer_.got.elements() - wrong_count_)
      keep(variant, std::move(candidate), static_cast<double>(explained) / static_cast<double>(wrong_.size()),
           explained, use ? use->worst : HUGE_VAL);
    return std::nullopt;
  }

  [[nodiscard]] std::int64_t count_within(std::span<const Bounded> computed) const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < computed.size(); ++i)
      count += is_within_bound(computed[i], got_[i], model_) ? 1 : 0;
    return count;
  }

  /// Of elements that the right operator does not explain: the product of the shares of the layer's range,
  /// with 0, that the bounds leave. A narrower type leaves one number of many between two of its own.
  [[nodiscard]] double chance_of(std::span<const Bounded> computed, const Variant& variant,
                                 DType stored_as) const {
    const double share =
        stored_as == DType::undefined ? 1.0 : model_.ulp / error_model_for({}, stored_as).ulp;
    // Where results on the way may overflow, an infinity has many causes.
    const bool overflows = layer_.derived.overflow != Overflow::none;
    return coincidence(computed, right_, model_, share, [&](std::size_t i) {
      return wrong_[i] != 0 && (variant.zeros_tell || got_[i] != 0.0) &&
             !(overflows && !std::isfinite(got_[i]));
    });
  }

  /// Only the best are kept: a candidate may hold other weights.
  void keep(const Variant& variant, Candidate candidate, double promise, std::int64_t explained = -1,
            double after = 0.0) {
    constexpr double least = 0.25;
    if (promise < least) return;
    Trial trial{&variant, std::move(candidate), promise, {}};
    if (explained >= 0)
      trial.known = Hypothesis{id_of(variant), text_of(variant, trial.candidate.detail), after, explained};
    const auto at =
        std::ranges::upper_bound(trials_, -promise, {}, [](const Trial& one) { return -one.promise; });
    trials_.insert(at, std::move(trial));
    if (trials_.size() > most_hypotheses) trials_.pop_back();
  }

  static std::string id_of(const Variant& variant) {
    return std::string(variant.family) + "." + std::string(variant.id);
  }
  static std::string text_of(const Variant& variant, const std::string& detail) {
    return std::string(variant.name) + (detail.empty() ? "" : " ") + detail;
  }

  void set_cause(CauseFound& found, double before) const {
    const VariantMatch& match = found.match;
    LayerExplanation& explanation = found.explanation;
    explanation.cause = Cause{.id = id_of(*found.variant),
                              .text = text_of(*found.variant, match.detail),
                              .parameters = {match.parameters.begin(), match.parameters.end()},
                              .budget_before = before,
                              .budget_after = match.use.worst,
                              .elements = explanation.elements,
                              .explained = explanation.elements,
                              .chance = *match.chance};
    explanation.hypotheses.push_back(
        {explanation.cause->id, explanation.cause->text, match.use.worst, explanation.elements});
  }

  void add_hypotheses(LayerExplanation& explanation) {
    std::size_t bounded = 0;
    std::vector<Hypothesis> made;
    for (Trial& trial : trials_) {
      if (trial.known) made.push_back(*std::move(trial.known));
      // Where a cause was found, how far others get is not worth their bounds.
      if (trial.known || explanation.cause || work_ > most_work || bounded == with_bounds) continue;
      ++bounded;
      const DerivationInputs* const inputs = layer_.in_group() ? nullptr : layer_.known_inputs();
      static const DerivationInputs none;
      const auto computed = bounds_of(trial.candidate, layer_, inputs == nullptr ? none : *inputs);
      if (!computed) continue;
      const std::int64_t explained = count_within(*computed);
      if (explained <= explanation.elements - explanation.wrong) continue;
      const auto use = use_of(*computed, trial.candidate, layer_);
      made.push_back({id_of(*trial.variant), text_of(*trial.variant, trial.candidate.detail),
                      use ? use->worst : HUGE_VAL, explained});
    }
    std::ranges::sort(made, [](const Hypothesis& a, const Hypothesis& b) {
      return a.explained != b.explained ? a.explained > b.explained : a.id < b.id;
    });
    for (Hypothesis& one : made)
      if (explanation.hypotheses.size() < most_hypotheses) explanation.hypotheses.push_back(std::move(one));
  }

  const LayerCase& layer_;
  const ErrorModel model_;
  std::span<const Bounded> right_;
  std::vector<double> got_;  // of floating tensors
  std::vector<std::uint8_t> wrong_;
  std::int64_t wrong_count_ = 0;
  std::vector<std::int64_t> sample_;  // wrong elements that movements are tried on first
  std::int64_t tried_ = 0;
  double work_ = 0.0;
  std::vector<Trial> trials_;  // the most promising first
};

}  // namespace

std::optional<CauseFound> search_cause(const LayerCase& layer, const LayerVerdict& verdict, bool precision) {
  Search search(layer);
  if (!search.can_tell()) return std::nullopt;
  return search.run(verdict, precision);
}

}  // namespace driftscope
