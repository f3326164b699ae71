// --input and --dataset: the user's specification → tensors for the model's inputs.
// Clients: run, compare.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/inputs/chosen_inputs.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

struct GivenInputs {
  NamedInputs tensors;
  std::string text;   ///< how the user named them; "seed:42 (random)" when nothing was given
  std::string label;  ///< class name of the sample, when it is known
  std::optional<ChosenInputs> chosen = {};    ///< what was chosen where nobody gave anything
  std::vector<std::string> found_sizes = {};  ///< specs that give the sizes which were found
};

/// Each spec is NAME=SOURCE or SOURCE, a source of inputs (core/inputs) with a single item: .npy, a folder of
/// an ONNX test_data_set, one sample of a data set (idx:FILE#17), seed:42. Without any, seed:42; beside
/// others it makes the inputs that are missing. Or a size (core/inputs/input_sizes.hpp).
[[nodiscard]] Result<GivenInputs> read_inputs(const std::vector<std::string>& specs, const ModelFile& model);

/// All samples of a data set, stacked along a new leading axis of the model's only input.
struct GivenDataset {
  NamedInputs stacked;
  std::int64_t samples = 0;
  std::vector<std::int64_t> labels;
  std::vector<std::string> class_names;
  std::string text;
};

/// A spec of parse_dataset_spec without a number; dataset_forms() (core/dataset) shows all of this build.
[[nodiscard]] Result<GivenDataset> read_dataset(const std::string& spec, const ModelFile& model);

}  // namespace driftscope
