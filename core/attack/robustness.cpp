#include "core/attack/robustness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/statistics/robustness_indicator.hpp"

namespace driftscope {
namespace {

// By row and attack.
using RateTable = std::map<std::pair<std::size_t, std::size_t>, double>;

template <class All, class One>
std::size_t place_of(All& all, One one, const auto& same) {
  const auto found = std::ranges::find_if(all, same);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  all.push_back(std::move(one));
  return all.size() - 1;
}

}  // namespace

Result<Robustness> robustness_of(std::span<const AttackRates> rates) {
  Robustness result;
  RateTable table;
  for (const AttackRates& one : rates) {
    const std::size_t attack =
        place_of(result.attacks, one.attack, [&](const std::string& other) { return other == one.attack; });
    for (std::size_t t = 0; t < one.targets.size(); ++t) {
      const std::size_t row = place_of(
          result.rows, RobustnessRow{one.model_sha256, one.targets[t]}, [&](const RobustnessRow& other) {
            return other.model_sha256 == one.model_sha256 && other.target == one.targets[t];
          });
      if (!table.emplace(std::pair(row, attack), one.success[t]).second)
        return bad_input(fmt::format("{}: {} on {} of model {} is given twice", one.source, one.attack,
                                     one.targets[t], one.model_sha256.substr(0, 12)));
    }
  }
  std::vector<std::vector<double>> success(result.attacks.size()), before = success, after = success;
  std::vector<std::size_t> converted;
  for (std::size_t row = 0; row < result.rows.size(); ++row) {
    const auto first = static_cast<std::size_t>(
        std::ranges::find(result.rows, result.rows[row].model_sha256, &RobustnessRow::model_sha256) -
        result.rows.begin());
    if (first != row) converted.push_back(row);
    for (std::size_t attack = 0; attack < result.attacks.size(); ++attack) {
      const auto found = table.find({row, attack});
      if (found == table.end())
        return bad_input(fmt::format(
            "R sums over the same attacks: {} is missing on {} of model {}; give the "
            "JSON document of that attack too (--with)",
            result.attacks[attack], result.rows[row].target, result.rows[row].model_sha256.substr(0, 12)));
      success[attack].push_back(found->second);
      if (first == row) continue;
      after[attack].push_back(found->second);
      before[attack].push_back(table.at({first, attack}));
    }
  }
  DRIFTSCOPE_TRY(const auto sums, robustness_indicators(success));
  for (std::size_t row = 0; row < sums.size(); ++row) result.rows[row].r = sums[row];
  if (converted.empty()) return result;
  DRIFTSCOPE_TRY(const auto distances, conversion_robustness_indicators(before, after));
  for (std::size_t i = 0; i < converted.size(); ++i) result.rows[converted[i]].r_conversion = distances[i];
  return result;
}

}  // namespace driftscope
