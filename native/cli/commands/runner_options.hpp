// Options that commands share.
#pragma once

#include <string>
#include <vector>

#include "native/host/target_runner.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace driftscope {

/// --input-shape and --dim: sizes that the model leaves open. They go into `inputs`, as with_input_sizes
/// takes them.
void add_size_options(CLI::App& app, std::vector<std::string>& inputs);

/// --input, --input-shape and --dim: what a model runs on. All go into `inputs`, as read_inputs takes them.
/// Returns --input.
CLI::Option* add_input_options(CLI::App& app, std::vector<std::string>& inputs);

inline constexpr const char* capture_help =
    "What is kept: 'all', every value, node by node; 'fused', what the execution really has when it may "
    "fuse and skip nodes (verify judges the groups between); 'outputs', the model's outputs";

void add_runner_options(CLI::App& app, RunnerOptions& options);

}  // namespace driftscope
