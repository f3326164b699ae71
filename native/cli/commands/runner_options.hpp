// Options that run and compare share.
#pragma once

#include <string>

#include "native/host/target_runner.hpp"

namespace CLI {
class App;
}

namespace driftscope {

/// Of --input, with the data set formats of this build.
[[nodiscard]] std::string input_help();

inline constexpr const char* capture_help =
    "What is kept: 'all', every value, node by node; 'fused', what the execution really has when it may "
    "fuse and skip nodes (verify judges the groups between); 'outputs', the model's outputs";

void add_runner_options(CLI::App& app, RunnerOptions& options);

}  // namespace driftscope
