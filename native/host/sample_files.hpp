// MODEL.preprocess.json beside a model or above its folder onnx/, and the files that inputs are made of: what
// core/inputs asks for. Clients: inputs, run, compare, the window.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/inputs/input_source.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

/// What sources of inputs may read for this model, which must outlive it.
[[nodiscard]] InputSite input_site(const ModelFile& model);

/// MODEL.preprocess.json and the vocabulary that it names, where they are there.
[[nodiscard]] std::vector<std::filesystem::path> description_files(const ModelFile& model);

/// Names of the model's classes from its preprocess.json; empty when there is none.
[[nodiscard]] std::vector<std::string> class_names(const ModelFile& model);

}  // namespace driftscope
