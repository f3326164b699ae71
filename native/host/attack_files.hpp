// What an attack leaves in a folder. Client: the command attack.
#pragma once

#include <filesystem>

#include "native/host/attack_run.hpp"

namespace driftscope {

/// DIR/TARGET.npy: what became of each sample, in the data's units; DIR/originals.npy beside them. Pictures of
/// 8 bits also as PNG files in the layout of the data set images:DIR/TARGET, DIR/TARGET/CLASS/NUMBER.png,
/// where CLASS is the right one and NUMBER that of the sample in the data set.
[[nodiscard]] Status keep_results(const std::filesystem::path& folder, const AttackPlan& plan,
                                  const AttackReport& report);

}  // namespace driftscope
