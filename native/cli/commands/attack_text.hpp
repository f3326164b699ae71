// What `driftscope attack` prints: rates, transfer, the layers that separate targets, robustness.
#pragma once

#include <cstdint>
#include <string>

#include "core/report/attack_results.hpp"
#include "native/host/attack_run.hpp"

namespace driftscope {

struct AttackText {
  std::string model;         ///< as it was given
  std::int64_t samples = 0;  ///< of the data set
  const AttackReport& report;
  const documents::Attack& document;
};

/// To the standard output.
void print_attack(const AttackText& text);

}  // namespace driftscope
