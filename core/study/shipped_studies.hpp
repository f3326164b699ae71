// The studies of this build, as text (read_study). The table is generated at configure time from
// core/study/shipped/NAME.json, never edited. Client: the study command.
#pragma once

#include <span>
#include <string_view>

namespace driftscope {

struct ShippedStudy {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::span<const ShippedStudy> shipped_studies();

}  // namespace driftscope
