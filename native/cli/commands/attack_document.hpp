// The document of an attack, driftscope-attack-1. Client: the command attack.
#pragma once

#include <span>
#include <string>

#include "core/report/attack_results.hpp"
#include "native/host/attack_run.hpp"

namespace driftscope {

/// `dataset`: as it was given.
[[nodiscard]] documents::Attack attack_document(const AttackPlan& plan, const std::string& dataset,
                                                const AttackReport& report);

/// R over this attack and those whose documents are in the files `with`.
[[nodiscard]] Status add_robustness(std::span<const std::string> with, documents::Attack& document);

}  // namespace driftscope
