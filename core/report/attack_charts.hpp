// What the charts and the gallery of attacks show. Clients: the page of attacks, the attack view.
#pragma once

#include <string>
#include <vector>

#include "core/draw/adversarial_pictures.hpp"
#include "core/draw/bar_chart.hpp"
#include "core/draw/radar_chart.hpp"
#include "core/report/attack_results.hpp"

namespace driftscope {

/// In per cent, with Wilson's intervals; the colour of a target is its place in `all`.
[[nodiscard]] std::vector<Bar> success_bars(const AttackResults& results, const SurvivalRates& all);
/// Of targets with adversarials.
[[nodiscard]] std::vector<Bar> transfer_bars(const AttackResults& results, const SurvivalRates& all);
[[nodiscard]] std::vector<RadarSeries> radar_series(const SurvivalRates& all);

/// Of a sample that is a picture of reasonable size; empty images for others.
[[nodiscard]] AdversarialPictures pictures_of(const AttackResults& results, const AttackExample& example);
/// "pc/strict and chrome/fast".
[[nodiscard]] std::string attacked_text(const AttackResults& results, const AttackExample& example);
/// Which words changed, by their numbers: "word 12: 345 to 981".
[[nodiscard]] std::string changes_text(const AttackExample& example);

}  // namespace driftscope
