// MODEL.preprocess.json beside a model, and the inputs it makes from files: pictures, texts, data sets.
// Clients: inputs, run, compare.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/dataset/dataset.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

/// Whether the name is that of a picture or text that becomes one sample.
[[nodiscard]] bool is_sample_file(const std::string& path);

/// The picture or text as the model's input.
[[nodiscard]] Result<NamedTensor> read_sample_file(const std::string& path, const ModelFile& model);

[[nodiscard]] Result<Dataset> open_dataset(const DatasetSpec& spec, const ModelFile& model);

/// Names of the model's classes from its preprocess.json; empty when there is none.
[[nodiscard]] std::vector<std::string> class_names(const ModelFile& model);

}  // namespace driftscope
