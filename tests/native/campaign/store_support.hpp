// What the tests of stores have in common: a definition, cells and their results.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/campaign/store_format.hpp"

namespace driftscope::test::stores {

inline const CampaignDefinition definition{"test", {{"seed", 7}}, "build"};
inline const CampaignDefinition other_definition{"test", {{"seed", 8}}, "build"};

inline CampaignCell cell(int item) { return {"pc/strict", std::to_string(item)}; }
inline std::string result_of(int item) { return fmt::format(R"({{"class":{}}})", item * 3); }

inline CampaignResults results_to(int items) {
  CampaignResults results;
  for (int item = 0; item < items; ++item) results.emplace(cell(item), result_of(item));
  return results;
}

inline bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace driftscope::test::stores
