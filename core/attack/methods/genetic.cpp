// Genetic word substitution (Alzantot et al. 2018), with the parameters of its published notebook: a
// population of 60, the 8 nearest words as replacements, 30 generations, temperature 3. At most a quarter
// of the words change. Neighbours are those of the model's own embedding; there is no language model. A text
// that comes up again (the members of the first generation are all the sample) is asked for once.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/attack/attack.hpp"
#include "core/base/rng.hpp"
#include "core/base/sha256.hpp"

namespace driftscope {
namespace genetic_parts {
namespace {

constexpr std::size_t population = 60;
constexpr std::int64_t generations = 30;
constexpr double temperature = 3.0;  // of the notebook; the paper has 0.3
constexpr double max_changed = 0.25;

using Tokens = std::vector<float>;

struct Fitness {
  double probability = 0.0;  ///< of the likeliest class that is not the label's
  bool wrong = false;        ///< it is the answer
};

struct Candidate {
  Tokens text;
  std::size_t number = 0;  ///< of the distinct texts, in the order in which they came up
};

struct Evolution {
  std::vector<Tokens> members;
  std::vector<std::vector<Candidate>> candidates;  ///< by member: itself with one word replaced
  std::map<std::string, std::size_t> numbers;      ///< of texts, by SHA-256
  std::vector<Fitness> known;                      ///< by number, of the texts that were asked for
  std::vector<double> chances;                     ///< by position: to be replaced
  std::size_t words = 0;
  bool over = false;
};

class Genetic final : public Attack {
 public:
  Genetic(std::vector<AttackSample> samples, const AttackSettings& settings)
      : samples_(std::move(samples)),
        settings_(settings),
        rng_(settings.seed),
        left_(settings.steps == 0 ? generations : settings.steps),
        runs_(samples_.size()),
        outcomes_(samples_.size()) {
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      outcomes_[i].values = samples_[i].values;
      begin(i);
    }
  }

  std::optional<AttackQuestion> next() override {
    while (std::ranges::any_of(runs_, [](const Evolution& run) { return !run.over; })) {
      question_ = {};
      question_.asks = AttackAsks::scores;
      for (std::size_t i = 0; i < runs_.size(); ++i) add_unknown(i);
      if (!question_.samples.empty()) return question_;
      evolve();  // nothing new has come up
    }
    return std::nullopt;
  }

  Status take(const AttackAnswer& answer) override {
    DRIFTSCOPE_CHECK(check_answer(question_, answer));
    for (std::size_t at = 0; at < question_.samples.size(); ++at) {
      const std::size_t i = question_.samples[at];
      runs_[i].known.push_back(fitness(answer.scores[at], samples_[i].label));
    }
    evolve();
    return {};
  }

  std::vector<AttackOutcome> outcomes() const override { return outcomes_; }

 private:
  void begin(std::size_t i) {
    Evolution& run = runs_[i];
    double sum = 0.0;
    for (const float token : samples_[i].values) {
      const auto found = settings_.words.neighbours.find(static_cast<std::int64_t>(token));
      const bool word = static_cast<std::int64_t>(token) != settings_.words.pad;
      run.words += word ? 1 : 0;
      // A word with many neighbours is chosen more often, up to ten.
      const std::size_t near = !word || found == settings_.words.neighbours.end() ? 0 : found->second.size();
      run.chances.push_back(static_cast<double>(std::min<std::size_t>(near, 10)));
      sum += run.chances.back();
    }
    run.over = sum <= 0.0 || allowed(run) == 0;
    for (double& chance : run.chances) chance /= run.over ? 1.0 : sum;
    if (run.over) return;
    run.members.assign(population, samples_[i].values);
    for (const Tokens& member : run.members) run.candidates.push_back(replaced(i, member));
  }

  // Numbers follow the order of the candidates, so that the next unknown text is the first with its number.
  void add_unknown(std::size_t i) {
    if (runs_[i].over) return;
    std::size_t next = runs_[i].known.size();
    for (const auto& candidates : runs_[i].candidates)
      for (const Candidate& one : candidates) {
        if (one.number != next) continue;
        ++next;
        question_.samples.push_back(i);
        question_.values.push_back(one.text);
        ++outcomes_[i].queries;
      }
  }

  [[nodiscard]] static Candidate numbered(Evolution& run, Tokens text) {
    const auto number =
        run.numbers.try_emplace(sha256_hex(std::as_bytes(std::span(text))), run.numbers.size());
    return {std::move(text), number.first->second};
  }

  [[nodiscard]] static std::size_t allowed(const Evolution& run) {
    return static_cast<std::size_t>(max_changed * static_cast<double>(run.words));
  }

  [[nodiscard]] std::size_t changed(std::size_t i, const Tokens& member) const {
    std::size_t count = 0;
    for (std::size_t at = 0; at < member.size(); ++at) count += member[at] != samples_[i].values[at] ? 1 : 0;
    return count;
  }

  [[nodiscard]] std::size_t drawn(std::span<const double> chances) {
    double rest = static_cast<double>(rng_.uniform());
    std::size_t last = 0;
    for (std::size_t at = 0; at < chances.size(); ++at) {
      if (chances[at] <= 0.0) continue;
      last = at;
      rest -= chances[at];
      if (rest < 0.0) break;
    }
    return last;
  }

  // The member, which stays where no replacement makes a wrong answer likelier; and the member with one word
  // replaced by each of its neighbours, where one may change.
  [[nodiscard]] std::vector<Candidate> replaced(std::size_t i, const Tokens& member) {
    const Tokens& original = samples_[i].values;
    // With all changes spent, only a word that is changed already can change again.
    const bool spent = changed(i, member) >= allowed(runs_[i]);
    std::size_t place = drawn(runs_[i].chances);
    for (int tries = 0; tries < 1000 && (member[place] != original[place]) != spent; ++tries)
      place = drawn(runs_[i].chances);
    std::vector<Candidate> all = {numbered(runs_[i], member)};
    if ((member[place] != original[place]) == spent)
      for (const std::int64_t word :
           settings_.words.neighbours.at(static_cast<std::int64_t>(original[place]))) {
        Tokens text = member;
        text[place] = static_cast<float>(word);
        all.push_back(numbered(runs_[i], std::move(text)));
      }
    return all;
  }

  // Scores may be probabilities or logits.
  [[nodiscard]] static Fitness fitness(const std::vector<float>& scores, std::int64_t label) {
    double sum = 0.0, best = -HUGE_VAL, own = -HUGE_VAL;
    bool probabilities = true;
    for (std::size_t c = 0; c < scores.size(); ++c) {
      const double score = static_cast<double>(scores[c]);
      sum += score;
      probabilities = probabilities && score >= 0.0;
      (static_cast<std::int64_t>(c) == label ? own : best) =
          std::max(static_cast<std::int64_t>(c) == label ? own : best, score);
    }
    if (probabilities && std::abs(sum - 1.0) < 1e-3) return {best, best > own};
    double exponentials = 0.0;
    for (const float score : scores)
      exponentials += std::exp(static_cast<double>(score) - std::max(best, own));
    return {std::exp(best - std::max(best, own)) / exponentials, best > own};
  }

  void evolve() {
    --left_;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (!runs_[i].over) evolve(i);
      if (!runs_[i].over) continue;
      runs_[i] = Evolution();  // its texts are not needed any more
      runs_[i].over = true;
    }
  }

  void evolve(std::size_t i) {
    Evolution& run = runs_[i];
    std::vector<double> scores;
    std::size_t top = 0;
    for (std::size_t m = 0; m < run.members.size(); ++m) {
      Fitness best{-HUGE_VAL, false};
      for (const Candidate& candidate : run.candidates[m]) {
        const Fitness& one = run.known[candidate.number];
        if (!(one.probability > best.probability)) continue;
        best = one;
        run.members[m] = candidate.text;
      }
      scores.push_back(best.probability);
      if (m == 0 || best.probability > scores[top]) {
        top = m;
        outcomes_[i].success = best.wrong;
      }
    }
    outcomes_[i].values = run.members[top];
    run.over = outcomes_[i].success || left_ == 0;
    if (run.over) return;
    std::vector<double> chances;
    double sum = 0.0;
    for (const double score : scores) {
      chances.push_back(std::exp((score - scores[top]) / temperature));
      sum += chances.back();
    }
    for (double& chance : chances) chance /= sum;
    std::vector<Tokens> next = {run.members[top]};
    while (next.size() < population) next.push_back(child(i, chances));
    run.members = std::move(next);
    for (std::size_t m = 0; m < run.members.size(); ++m)
      run.candidates[m] = m == 0 ? std::vector{numbered(run, run.members[0])} : replaced(i, run.members[m]);
  }

  // Each word from either parent; changes beyond the allowed ones are taken back, in random order.
  [[nodiscard]] Tokens child(std::size_t i, std::span<const double> chances) {
    const Tokens& a = runs_[i].members[drawn(chances)];
    const Tokens& b = runs_[i].members[drawn(chances)];
    Tokens both = a;
    for (std::size_t at = 0; at < both.size(); ++at)
      if (rng_.below(2) == 1) both[at] = b[at];
    while (changed(i, both) > allowed(runs_[i])) {
      const std::size_t at = drawn(runs_[i].chances);
      both[at] = samples_[i].values[at];
    }
    return both;
  }

  std::vector<AttackSample> samples_;
  AttackSettings settings_;
  Rng rng_;
  std::int64_t left_;
  std::vector<Evolution> runs_;
  std::vector<AttackOutcome> outcomes_;
  AttackQuestion question_;
};

}  // namespace
}  // namespace genetic_parts

namespace attack_methods::genetic {

static std::unique_ptr<Attack> make(std::vector<AttackSample> samples, const AttackSettings& settings) {
  return std::make_unique<genetic_parts::Genetic>(std::move(samples), settings);
}

void add_to(AttackMethodTable& table) {
  table.add({.order = 50,
             .name = "genetic",
             .help = "for texts: words are replaced by their neighbours in the model's embedding, a quarter "
                     "of them at most, by 30 generations of 60",
             .replaces_words = true,
             .make = make});
}

}  // namespace attack_methods::genetic

}  // namespace driftscope
