// The results of an attack as 8-bit pictures in a folder. Client: the command attack.
#pragma once

#include <filesystem>

#include "native/host/attack_run.hpp"

namespace driftscope {

/// DIR/TARGET/CLASS/NUMBER.png, the layout of the data set images:DIR/TARGET: CLASS is the right one and
/// NUMBER that of the sample in the data set; DIR/originals beside them. Errors: neither 1 nor 3 channels.
[[nodiscard]] Status keep_pictures(const std::filesystem::path& folder, const AttackPlan& plan,
                                   const AttackReport& report);

}  // namespace driftscope
