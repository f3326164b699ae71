#include "core/attack/separate_attacks.hpp"

namespace driftscope {
namespace {

class SeparateAttacks final : public Attack {
 public:
  explicit SeparateAttacks(std::vector<std::unique_ptr<Attack>> attacks)
      : attacks_(std::move(attacks)), waiting_(attacks_.size()), over_(attacks_.size(), false) {}

  std::optional<AttackQuestion> next() override {
    asked_.clear();
    std::optional<AttackQuestion> all;
    for (std::size_t i = 0; i < attacks_.size(); ++i) {
      if (over_[i]) continue;
      if (!waiting_[i]) waiting_[i] = attacks_[i]->next();
      over_[i] = !waiting_[i];
      if (over_[i]) continue;
      // Those that ask for something else wait for their turn.
      if (!all) all.emplace().asks = waiting_[i]->asks;
      if (waiting_[i]->asks != all->asks) continue;
      asked_.push_back(i);
      for (const std::vector<float>& values : waiting_[i]->values) {
        all->samples.push_back(i);
        all->values.push_back(values);
      }
    }
    question_ = all.value_or(AttackQuestion{});
    return all;
  }

  Status take(const AttackAnswer& answer) override {
    DRIFTSCOPE_CHECK(check_answer(question_, answer));
    std::size_t begin = 0;
    for (const std::size_t i : asked_) {
      const std::size_t end = begin + waiting_[i]->values.size();
      const auto own = [&](const auto& given, auto& part) {
        if (!given.empty())
          part.assign(given.begin() + static_cast<std::ptrdiff_t>(begin),
                      given.begin() + static_cast<std::ptrdiff_t>(end));
      };
      AttackAnswer part;
      own(answer.classes, part.classes);
      own(answer.scores, part.scores);
      own(answer.gradients, part.gradients);
      DRIFTSCOPE_CHECK(attacks_[i]->take(part));
      waiting_[i].reset();
      begin = end;
    }
    return {};
  }

  std::vector<AttackOutcome> outcomes() const override {
    std::vector<AttackOutcome> all;
    for (const auto& attack : attacks_) all.push_back(attack->outcomes().front());
    return all;
  }

 private:
  std::vector<std::unique_ptr<Attack>> attacks_;
  std::vector<std::optional<AttackQuestion>> waiting_;  ///< by attack: asked, not answered
  std::vector<bool> over_;
  std::vector<std::size_t> asked_;
  AttackQuestion question_;
};

}  // namespace

Result<std::unique_ptr<Attack>> make_separate_attacks(const AttackMethod& method,
                                                      std::vector<AttackSample> samples,
                                                      const AttackSettings& settings,
                                                      std::span<const std::uint64_t> seeds) {
  if (samples.empty()) return bad_input("there is no sample to attack");
  if (seeds.size() != samples.size())
    return internal_error("separate attacks need a seed for each of their samples");
  std::vector<std::unique_ptr<Attack>> attacks;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    AttackSettings own = settings;
    own.seed = seeds[i];
    std::vector<AttackSample> one;
    one.push_back(std::move(samples[i]));
    DRIFTSCOPE_TRY(auto attack, make_attack(method, std::move(one), own));
    attacks.push_back(std::move(attack));
  }
  return std::unique_ptr<Attack>(new SeparateAttacks(std::move(attacks)));
}

}  // namespace driftscope
