// Where the error that matters comes from, as a text table. Clients: the tables of compare and verify.
#pragma once

#include <span>
#include <string>

#include "core/verify/layer_verdict.hpp"

namespace driftscope {

struct NamedVerification {
  std::string name;  ///< of the column; may be empty for a single one
  const Verification* verification = nullptr;
};

/// The layers with the largest shares in how far the answer can move on the first target, and how far each
/// has moved it on every target; "" without sensitivity.
[[nodiscard]] std::string sensitivity_table(std::span<const NamedVerification> targets);

}  // namespace driftscope
