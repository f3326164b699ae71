#include "core/study/study_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/format.hpp"
#include "core/runtime/target.hpp"
#include "core/statistics/rate.hpp"
#include "core/statistics/robustness_indicator.hpp"

namespace driftscope {
namespace {

constexpr double inferences = 10'000.0;  // the unit of the studies

Figure none(std::string why) { return {.value = {}, .interval = {}, .n = 0, .text = std::move(why)}; }

std::string few(std::int64_t n) { return n < enough_for_a_rate ? ", too few" : ""; }

Figure rate(std::int64_t k, std::int64_t n) {
  Figure figure{.value = static_cast<double>(k) / static_cast<double>(n),
                .interval = wilson_interval(k, n),
                .n = n,
                .text = {}};
  figure.text = fmt::format("{:.2f} % [{:.1f}, {:.1f}], n {}{}", 100.0 * *figure.value,
                            100.0 * figure.interval->low, 100.0 * figure.interval->high, n, few(n));
  return figure;
}

/// The mean over elements of |got − wanted|, or of that relative to |wanted| where this is not 0.
Figure distance(const Answers& left, const Answers& right, bool relative) {
  const std::size_t count = std::min(left.outputs.size(), right.outputs.size());
  const std::int64_t n = std::min(left.samples(), right.samples());
  if (count == 0 || n == 0) return none("outputs not kept");
  double sum = 0.0;
  double squares = 0.0;
  std::size_t used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto original = static_cast<double>(left.outputs[i]);
    double one = std::fabs(static_cast<double>(right.outputs[i]) - original);
    if (relative && original == 0.0) continue;
    if (relative) one /= std::fabs(original);
    sum += one;
    squares += one * one;
    ++used;
  }
  if (used == 0) return none("all outputs are 0");
  const double mean = sum / static_cast<double>(used);
  const double variance = std::fmax(0.0, squares / static_cast<double>(used) - mean * mean);
  return {.value = mean,
          .interval = {},
          .n = n,
          .text = fmt::format("{:.1e} ({:.1e})", mean, std::sqrt(variance))};
}

}  // namespace

AnswerPair pair_of(const Answers& left, const Answers& right) {
  AnswerPair pair;
  pair.n = std::min(left.samples(), right.samples());
  for (std::int64_t i = 0; i < pair.n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool is_right = right.predictions[at] == right.labels[at];
    const bool is_left = left.predictions[at] == left.labels[at];
    pair.both += is_left && is_right ? 1 : 0;
    pair.only_left += is_left && !is_right ? 1 : 0;
    pair.only_right += !is_left && is_right ? 1 : 0;
    pair.different += left.predictions[at] != right.predictions[at] ? 1 : 0;
  }
  return pair;
}

StudyView::StudyView(documents::Study study, StudyResults results)
    : study_(std::move(study)), results_(std::move(results)), subjects_(subjects_of(study_)) {}

std::vector<std::size_t> StudyView::targets_on(std::string_view host) const {
  std::vector<std::size_t> places;
  for (std::size_t t = 0; t < study_.targets.size(); ++t)
    if (const auto target = parse_target(study_.targets[t]); target.ok() && target->host == host)
      places.push_back(t);
  return places;
}

std::optional<std::size_t> StudyView::subject(std::string_view model, std::string_view variant) const {
  const std::string_view wanted = variant.empty() ? StudySubject::base_variant : variant;
  for (std::size_t s = 0; s < subjects_.size(); ++s)
    if (subjects_[s].model == model && subjects_[s].variant == wanted) return s;
  return {};
}

std::optional<std::size_t> StudyView::data(std::size_t subject, std::string_view name) const {
  const std::vector<documents::StudyData>& all = subjects_[subject].data;
  if (name.empty()) return 0;
  for (std::size_t d = 0; d < all.size(); ++d)
    if (all[d].name == name) return d;
  return {};
}

const Answers* StudyView::answers(std::size_t subject, std::size_t data, std::size_t target) const {
  const auto found = results_.answers.find({subject, data, target});
  return found == results_.answers.end() ? nullptr : &found->second;
}

const Times* StudyView::times(std::size_t subject, std::size_t target) const {
  const auto found = results_.times.find({subject, target});
  return found == results_.times.end() ? nullptr : &found->second;
}

const Adversarials* StudyView::adversarials(std::size_t subject, std::size_t attack) const {
  const auto found = results_.adversarials.find({subject, attack});
  return found == results_.adversarials.end() ? nullptr : &found->second;
}

const LayersResult* StudyView::layers(std::size_t layers, std::size_t target) const {
  const auto found = results_.layers.find({layers, target});
  return found == results_.layers.end() ? nullptr : &found->second;
}

std::optional<std::size_t> StudyView::attack(std::string_view name) const {
  for (std::size_t a = 0; a < study_.attacks.size(); ++a)
    if (study_.attacks[a].name == name) return a;
  return {};
}

std::map<std::int64_t, bool> StudyView::fooled(std::size_t subject, std::size_t attack,
                                               std::size_t target) const {
  std::map<std::int64_t, bool> fooled;
  const StudySubject& of = subjects_[subject];
  const auto base = this->subject(of.model, "");
  const Adversarials* const made = adversarials(*base, attack);
  const auto place = data(subject, study_.attacks[attack].name);
  const Answers* const here = place ? answers(subject, *place, target) : nullptr;
  if (made == nullptr || here == nullptr) return fooled;
  const auto right_everywhere = [&](std::int64_t original) {
    for (std::size_t s = 0; s < subjects_.size(); ++s)
      for (std::size_t t = 0; t < targets().size() && subjects_[s].model == of.model; ++t) {
        const Answers* const one = answers(s, 0, t);
        if (one == nullptr || one->samples() <= original) continue;
        const auto at = static_cast<std::size_t>(original);
        if (one->predictions[at] != one->labels[at]) return false;
      }
    return true;
  };
  for (std::int64_t i = 0; i < std::min(here->samples(), made->made()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (right_everywhere(made->originals[at])) fooled[i] = here->predictions[at] != here->labels[at];
  }
  return fooled;
}

Figure StudyView::figure(const Measure& measure, std::string_view model, std::size_t target) const {
  if (measure.kind == MeasureKind::nothing) return none("");
  const auto place = subject(model, measure.variant);
  if (!place) return none("–");
  switch (measure.kind) {
    case MeasureKind::nothing: return none("");
    case MeasureKind::size: {
      const std::int64_t bytes = *place < results_.bytes.size() ? results_.bytes[*place] : -1;
      if (bytes < 0) return none("not read");
      return {.value = static_cast<double>(bytes), .interval = {}, .n = 1, .text = format_bytes(bytes)};
    }
    case MeasureKind::time:
    case MeasureKind::first:
    case MeasureKind::load:
    case MeasureKind::memory: return of_times(measure.kind, *place, target);
    case MeasureKind::success: return of_attack(measure.data, *place, target);
    case MeasureKind::making: return of_making(measure.data, *place);
    case MeasureKind::robustness:
    case MeasureKind::converted: return of_robustness(measure.kind, *place, target);
    case MeasureKind::accuracy:
    case MeasureKind::difference:
    case MeasureKind::relative:
    case MeasureKind::misclassified: break;
  }
  return of_answers(measure, *place, target);
}

Figure StudyView::of_answers(const Measure& measure, std::size_t subject, std::size_t target) const {
  const auto place = data(subject, measure.data);
  const Answers* const here = place ? answers(subject, *place, target) : nullptr;
  if (!place) return none("–");
  if (here == nullptr || here->samples() == 0)
    return none(here && here->error ? *here->error : "not yet run");
  if (measure.kind == MeasureKind::accuracy) {
    Figure figure = rate(here->correct(), here->samples());
    if (here->error) figure.text += "; then failed: " + *here->error;
    return figure;
  }
  // The original on the first target is what a variant is compared with as well.
  const auto base = this->subject(subjects_[subject].model, "");
  const Answers* const left = answers(*base, *place, 0);
  if (left == nullptr || left->samples() == 0) return none("not yet run");
  if (measure.kind == MeasureKind::misclassified) {
    const AnswerPair pair = pair_of(*left, *here);
    return rate(pair.different, pair.n);
  }
  return distance(*left, *here, measure.kind == MeasureKind::relative);
}

Figure StudyView::of_attack(std::string_view name, std::size_t subject, std::size_t target) const {
  const auto place = attack(name);
  if (!place || !attacks_model(study_.attacks[*place], subjects_[subject].model)) return none("–");
  if (!study_.attacks[*place].transfer) {
    const auto found = results_.attacks.find({subject, *place, target});
    if (!subjects_[subject].is_base() || !attacks_target(study_.attacks[*place], targets()[target]))
      return none("–");
    if (found == results_.attacks.end()) return none("not yet run");
    const AttackResult& attack = found->second;
    if (attack.sum.attacked > 0) return rate(attack.sum.successes, attack.sum.attacked);
    return none(attack.error ? *attack.error : attack.sum.samples > 0 ? "nothing to attack" : "not yet run");
  }
  const auto all = fooled(subject, *place, target);
  if (!all.empty())
    return rate(std::ranges::count_if(all, [](const auto& one) { return one.second; }), std::ssize(all));
  const Adversarials* const made = adversarials(*this->subject(subjects_[subject].model, ""), *place);
  if (made != nullptr && made->error) return none(*made->error);
  const Answers* const here = answers(subject, *data(subject, name), target);
  if (here != nullptr && here->error) return none(*here->error);
  return none(here != nullptr && here->samples() > 0 ? "no sample is right everywhere" : "not yet run");
}

Figure StudyView::of_making(std::string_view name, std::size_t subject) const {
  constexpr double unit = 1000.0;
  const auto place = attack(name);
  const Adversarials* const made =
      place ? adversarials(*this->subject(subjects_[subject].model, ""), *place) : nullptr;
  if (!place || !attacks_model(study_.attacks[*place], subjects_[subject].model)) return none("–");
  if (made == nullptr || made->made() == 0)
    return none(made != nullptr && made->error ? *made->error : "not yet run");
  const double seconds = unit * made->seconds / static_cast<double>(made->made());
  return {.value = seconds,
          .interval = {},
          .n = made->made(),
          .text = fmt::format("{}, n {}", format_ns(static_cast<std::int64_t>(seconds * 1e9)), made->made())};
}

Figure StudyView::of_robustness(MeasureKind kind, std::size_t subject, std::size_t target) const {
  const bool converted = kind == MeasureKind::converted;
  if (!subjects_[subject].is_base()) return none("–");
  if (converted && target == 0) return none("the original");
  double sum = 0.0;
  std::int64_t samples = 0;
  bool attacked = false;
  for (const documents::StudyAttack& attack : study_.attacks) {
    if (!attacks_model(attack, subjects_[subject].model)) continue;
    attacked = true;
    // What it is compared with: the same model's targets, or all conversions of all models.
    std::vector<double> values;
    std::optional<std::size_t> own;
    for (std::size_t s = 0; s < subjects_.size(); ++s) {
      if (!subjects_[s].is_base() || (!converted && s != subject)) continue;
      const Figure original = of_attack(attack.name, s, 0);
      for (std::size_t t = converted ? 1 : 0; t < targets().size(); ++t) {
        const Figure one = of_attack(attack.name, s, t);
        if (!one.value || (converted && !original.value)) continue;
        if (s == subject && t == target) own = values.size(), samples = std::max(samples, one.n);
        values.push_back(converted ? std::fabs(*one.value - *original.value) : *one.value);
      }
    }
    if (!own) return none("not yet run");
    sum += min_max_scaled(values)[*own];
  }
  if (!attacked) return none("–");
  return {.value = sum,
          .interval = {},
          .n = samples,
          .text = fmt::format("{:.3f}, n {}{}", sum, samples, few(samples))};
}

Figure StudyView::of_times(MeasureKind kind, std::size_t subject, std::size_t target) const {
  const Times* const here = times(subject, target);
  if (here == nullptr || here->sessions.empty())
    return none(here && here->error ? *here->error : "not yet run");
  std::vector<double> values;
  for (const SessionTimes& session : here->sessions) {
    if (kind == MeasureKind::memory && session.memory_bytes < 0) continue;
    values.push_back(kind == MeasureKind::time    ? session.median_s * inferences
                     : kind == MeasureKind::first ? session.first_s
                     : kind == MeasureKind::load  ? session.load_s
                                                  : static_cast<double>(session.memory_bytes));
  }
  if (values.empty()) return none("not known");
  Figure figure{.value = median(values), .interval = {}, .n = std::ssize(values), .text = {}};
  const auto [low, high] = std::ranges::minmax(values);
  if (values.size() > 1) figure.interval = Interval{low, high};
  if (kind == MeasureKind::memory)
    figure.text = format_bytes(static_cast<std::int64_t>(*figure.value));
  else
    figure.text = format_ns(static_cast<std::int64_t>(*figure.value * 1e9));
  return figure;
}

}  // namespace driftscope
