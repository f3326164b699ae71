#include "core/attack/attack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace driftscope {

void AttackMethodTable::add(const AttackMethod& method) {
  methods_.insert(std::ranges::upper_bound(methods_, method.order, {}, &AttackMethod::order), method);
}

Result<const AttackMethod*> find_attack_method(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AttackMethod& method : attack_method_table().all()) {
    if (method.name == name) return &method;
    names.push_back(method.name);
  }
  return bad_input(fmt::format("attack method {}: unknown; there are: {}", name, fmt::join(names, ", ")));
}

Result<std::unique_ptr<Attack>> make_attack(const AttackMethod& method, std::vector<AttackSample> samples,
                                            const AttackSettings& settings) {
  if (samples.empty()) return bad_input("there is no sample to attack");
  if (!(settings.low < settings.high) || !std::isfinite(settings.high - settings.low))
    return bad_input(
        fmt::format("the range of the data is [{}, {}]: expected two finite numbers, the smaller first",
                    settings.low, settings.high));
  if (method.needs_epsilon && !(settings.epsilon > 0.0 && std::isfinite(settings.epsilon)))
    return bad_input(fmt::format("--epsilon {}: {} needs a positive number in the data's units",
                                 settings.epsilon, method.name));
  if (settings.steps < 0) return bad_input(fmt::format("{} steps: expected 1 or more", settings.steps));
  for (const AttackSample& sample : samples)
    if (sample.values.size() != samples[0].values.size() || sample.values.empty())
      return bad_input("the samples to attack differ in size, or are empty");
  if (settings.channels < 1 || settings.channel_stride < 1 ||
      std::ssize(samples[0].values) % settings.channels != 0)
    return bad_input(fmt::format("samples of {} elements do not have {} channels", samples[0].values.size(),
                                 settings.channels));
  return method.make(std::move(samples), settings);
}

float stored_in_8_bits(float value) {
  return std::nearbyintf(std::clamp(value, 0.0f, 1.0f) * 255.0f) / 255.0f;
}

Status check_answer(const AttackQuestion& question, const AttackAnswer& answer) {
  const std::size_t got = question.asks == AttackAsks::classes  ? answer.classes.size()
                          : question.asks == AttackAsks::scores ? answer.scores.size()
                                                                : answer.gradients.size();
  if (got != question.samples.size())
    return internal_error(
        fmt::format("an attack asked for {} answers and got {}", question.samples.size(), got));
  for (std::size_t i = 0; i < answer.gradients.size(); ++i)
    if (answer.gradients[i].size() != question.values[i].size())
      return internal_error("a gradient has another size than its input");
  return {};
}

}  // namespace driftscope
