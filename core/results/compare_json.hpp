// A comparison as the JSON of `driftscope compare --json` (format driftscope-compare-1).
// Client: the command line. Numbers as in verify_json.hpp.
#pragma once

#include <span>
#include <string>

#include "core/verify/compare.hpp"

namespace driftscope {

/// One target of a comparison. What is null is left out; an error is written as "error".
struct ComparedTarget {
  std::string target;
  const Verification* verification = nullptr;
  const Comparison* comparison = nullptr;  ///< with the left target; null for the left one itself
  std::string error;                       ///< why there is no result; empty when there is one
};

/// One JSON object.
[[nodiscard]] std::string comparison_json(const ComparedTarget& left, std::span<const ComparedTarget> right);

}  // namespace driftscope
