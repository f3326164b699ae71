#include "core/report/attack_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/base/format.hpp"
#include "core/base/json_lists.hpp"

namespace driftscope {
namespace {

/// By number in the data set, the class that `target` says of the adversarial of `attacked`.
using AnswersByNumber = std::map<std::int64_t, std::int64_t>;

AnswersByNumber answers_of(const documents::Attack& attack, std::size_t attacked, std::size_t target) {
  const std::vector<std::int64_t>& fooled = attack.results[attacked].fooled;
  const std::vector<std::int64_t>* given = nullptr;
  for (const documents::AttackAnswers& one : attack.answers)
    if (one.attacked == attack.results[attacked].target && one.target == attack.results[target].target)
      given = &one.classes;
  AnswersByNumber answers;
  if (given != nullptr)
    for (std::size_t i = 0; i < fooled.size() && i < given->size(); ++i) answers[fooled[i]] = (*given)[i];
  return answers;
}

std::vector<float> sample_of(const Tensor& all, std::size_t place) {
  const auto size = static_cast<std::size_t>(all.elements() / all.shape()[0]);
  const auto values = all.values<float>().subspan(place * size, size);
  return {values.begin(), values.end()};
}

/// The same result of another target, if it is among those.
AttackExample* same_as(const AttackExample& example, std::vector<AttackExample>& differing,
                       std::vector<std::vector<AttackExample>>& rounds) {
  const auto find = [&](std::vector<AttackExample>& some) -> AttackExample* {
    for (AttackExample& one : some)
      if (one.number == example.number && one.changed == example.changed) return &one;
    return nullptr;
  };
  if (AttackExample* const found = find(differing)) return found;
  for (std::vector<AttackExample>& round : rounds)
    if (AttackExample* const found = find(round)) return found;
  return nullptr;
}

Status check_counts(const documents::Attack& attack) {
  const auto bad = [](const std::string& what) { return bad_input("attack.json: " + what); };
  if (attack.samples < 0) return bad("negative samples");
  if (!attack.numbers.empty() && std::ssize(attack.numbers) != attack.samples)
    return bad(fmt::format("expected {} numbers, one for each sample, got {}", attack.samples,
                           attack.numbers.size()));
  if (!attack.labels.empty() && std::ssize(attack.labels) != attack.samples)
    return bad(
        fmt::format("expected {} labels, one for each sample, got {}", attack.samples, attack.labels.size()));
  for (const documents::AttackResult& result : attack.results)
    if (result.successes < 0 || result.successes > attack.samples)
      return bad(
          fmt::format("{}: {} successes of {} samples", result.target, result.successes, attack.samples));
  return {};
}

Status check_array(const std::string& file, const Tensor& array, const AttackResults& results) {
  const auto expected = fmt::format("float32 with {} samples", results.attack.samples);
  if (array.dtype() != DType::float32 || array.rank() < 2 || array.shape()[0] != results.attack.samples ||
      array.elements() == 0)
    return bad_input(fmt::format("{}: expected {}, as attack.json has it, got {} {}", file, expected,
                                 dtype_name(array.dtype()), shape_text(array.shape())));
  if (results.originals && array.shape() != results.originals->shape())
    return bad_input(fmt::format("{}: expected the shape of {}, {}, got {}", file, attack_array_file(),
                                 shape_text(results.originals->shape()), shape_text(array.shape())));
  return {};
}

}  // namespace

std::string attack_array_file(std::string_view target) {
  std::string name = target.empty() ? "originals" : std::string(target);
  std::ranges::replace_if(name, [](char c) { return c == '/' || c == ':' || c == '\\'; }, '-');
  return name + ".npy";
}

Shape AttackResults::sample_shape() const {
  if (!originals) return {};
  return {originals->shape().begin() + 1, originals->shape().end()};
}

std::vector<AttackExample> AttackResults::examples(std::size_t limit) const {
  if (!originals || attack.numbers.empty()) return {};
  // By target those of each round, so that every target has its share.
  std::vector<std::vector<AttackExample>> rounds;
  std::vector<AttackExample> differing;
  for (std::size_t t = 0; t < attack.results.size(); ++t) {
    if (t >= changed.size() || !changed[t]) continue;
    std::vector<AnswersByNumber> answers;
    for (std::size_t other = 0; other < attack.results.size(); ++other)
      answers.push_back(answers_of(attack, t, other));
    std::size_t round = 0;
    for (const std::int64_t number : attack.results[t].fooled) {
      const auto found = std::ranges::find(attack.numbers, number);
      if (found == attack.numbers.end()) continue;
      const auto place = static_cast<std::size_t>(found - attack.numbers.begin());
      AttackExample example{
          .number = number, .label = {}, .attacked = {t}, .original = {}, .changed = {}, .answers = {}};
      if (!attack.labels.empty()) example.label = attack.labels[place];
      for (const AnswersByNumber& of : answers) {
        const auto answer = of.find(number);
        example.answers.push_back(answer == of.end() ? std::nullopt : std::optional(answer->second));
      }
      std::optional<std::int64_t> first;
      for (const auto& answer : example.answers) {
        if (answer && first) example.targets_differ = example.targets_differ || *answer != *first;
        if (answer && !first) first = answer;
      }
      example.changed = sample_of(*changed[t], place);
      if (AttackExample* const same = same_as(example, differing, rounds); same != nullptr) {
        same->attacked.push_back(t);
        ++round;  // it has its share
        continue;
      }
      std::vector<AttackExample>* into = &differing;
      if (!example.targets_differ) {
        if (round >= limit) continue;
        if (round >= rounds.size()) rounds.emplace_back();
        into = &rounds[round++];
      } else if (differing.size() >= limit) {
        continue;
      }
      example.original = sample_of(*originals, place);
      into->push_back(std::move(example));
    }
  }
  std::vector<AttackExample> chosen = std::move(differing);
  for (std::vector<AttackExample>& round : rounds)
    for (AttackExample& example : round) chosen.push_back(std::move(example));
  if (chosen.size() > limit) chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(limit), chosen.end());
  return chosen;
}

Result<AttackResults> read_attack_results(
    std::string_view json,
    const std::function<Result<std::optional<Tensor>>(const std::string& file)>& array) {
  DRIFTSCOPE_TRY(const auto document, parse_document(json));
  const auto format = document.is_object() ? document.find("format") : document.end();
  if (!document.is_object() || format == document.end() || *format != "driftscope-attack-1")
    return bad_input("expected the JSON of `driftscope attack --json`, \"format\": \"driftscope-attack-1\"");
  AttackResults results;
  DRIFTSCOPE_CHECK(read_json(document, JsonPath(), results.attack));
  DRIFTSCOPE_CHECK(check_counts(results.attack));
  if (results.attack.samples == 0) return results;
  const auto read = [&](const std::string& file) -> Result<std::optional<Tensor>> {
    DRIFTSCOPE_TRY(std::optional<Tensor> tensor, array(file));
    if (tensor) DRIFTSCOPE_CHECK(check_array(file, *tensor, results));
    return tensor;
  };
  DRIFTSCOPE_TRY(results.originals, read(attack_array_file()));
  for (const documents::AttackResult& result : results.attack.results) {
    DRIFTSCOPE_TRY(results.changed.emplace_back(), read(attack_array_file(result.target)));
  }
  return results;
}

std::string attacked_model(const documents::Attack& attack) {
  return attack.model.empty() ? "model " + attack.model_sha256.substr(0, 12) : attack.model;
}

std::string attack_name(const documents::Attack& attack) {
  return attack.epsilon ? fmt::format("{}, ε {}", attack.method, format_number(*attack.epsilon))
                        : attack.method;
}

std::vector<AttackResults> attacks_with(std::vector<AttackResults> open, AttackResults added) {
  if (!open.empty() && open.front().attack.model_sha256 != added.attack.model_sha256) open.clear();
  std::erase_if(open, [name = attack_name(added.attack)](const AttackResults& one) {
    return attack_name(one.attack) == name;
  });
  open.push_back(std::move(added));
  return open;
}

SurvivalRates survival_rates(const std::vector<AttackResults>& all) {
  SurvivalRates made;
  for (const AttackResults& one : all) {
    made.attacks.push_back(attack_name(one.attack));
    for (const documents::AttackResult& result : one.attack.results)
      if (std::ranges::find(made.targets, result.target) == made.targets.end())
        made.targets.push_back(result.target);
  }
  for (const std::string& target : made.targets) {
    std::vector<double>& row = made.rates.emplace_back();
    for (const AttackResults& one : all) {
      const auto found = std::ranges::find(one.attack.results, target, &documents::AttackResult::target);
      const bool known = found != one.attack.results.end() && one.attack.samples > 0;
      row.push_back(known ? 1.0 - static_cast<double>(found->successes) /
                                      static_cast<double>(one.attack.samples)
                          : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return made;
}

}  // namespace driftscope
