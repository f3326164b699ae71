// Options that run and compare share.
#pragma once

#include "native/host/target_runner.hpp"

namespace CLI {
class App;
}

namespace driftscope {

inline constexpr const char* input_help =
    "NAME=SOURCE or SOURCE, once per model input: a .npy, .pb or .safetensors file, a picture (.png, "
    ".jpg) or text (.txt) for a model with a preprocessing description, a folder of an ONNX test data "
    "set, idx:FILE#17, cifar10:FILE#17, imdb:DIR#17, images:DIR#17, or seed:42 (the default: seeded "
    "random)";

inline constexpr const char* capture_help =
    "What is kept: 'all', every value, node by node; 'fused', what the execution really has when it may "
    "fuse and skip nodes (verify judges the groups between); 'outputs', the model's outputs";

void add_runner_options(CLI::App& app, RunnerOptions& options);

}  // namespace driftscope
