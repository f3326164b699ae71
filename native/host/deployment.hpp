// What the checks of deployment (core/deploy) need of this machine: a model's file, targets, and what
// runtimes say when they are given the model. Client: driftscope doctor.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/deploy/deploy_check.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

/// Of lists as --targets has them. None: this project's engines in Chrome, and the default one on the PC.
/// Errors: as of read_targets; a target that runs nothing (a file).
[[nodiscard]] Result<std::vector<DeployTarget>> deploy_targets(const std::vector<std::string>& lists);

/// Of a model whose graph is known. `sizes`: specs as with_input_sizes takes them; its errors.
[[nodiscard]] Result<DeployModel> deploy_model(const std::filesystem::path& path,
                                               const ModelExamination& examination,
                                               std::span<const std::string> sizes);

/// Gives the model to those targets on this PC whose runtimes accept or reject it as a whole, and keeps what
/// they say. Others, and runtimes that are not installed, are left alone.
void ask_runtimes(const std::filesystem::path& path, const DeployModel& model,
                  std::span<DeployTarget> targets);

}  // namespace driftscope
