// The conformance cases of ONNX on disk: <folder>/<family>/<case>/model.onnx with
// test_data_set_N/{input,output}_K.pb. Client: the conformance command.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/bind_inputs.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

/// One data set of one case.
struct ConformanceSet {
  NamedInputs inputs;
  NamedInputs wanted;
};

struct ConformanceCase {
  std::string family;  ///< "node", "simple", "pytorch-operator", "pytorch-converted"
  std::string name;    ///< "test_abs"
  ModelFile model;
  std::vector<ConformanceSet> sets;
  /// Why it cannot even be read; the kind unsupported is a limit of Driftscope, others are defects found.
  std::optional<Error> unusable;
};

/// Where the package libonnx-testdata puts them; DRIFTSCOPE_ONNX_DATA names another folder.
[[nodiscard]] std::filesystem::path conformance_folder();

/// Folders of the cases whose name matches the shell pattern `filter` ("*lstm*"; "" is all), sorted.
/// Errors: missing when there is no such folder (and which package holds it), bad_input when nothing
/// matches.
[[nodiscard]] Result<std::vector<std::filesystem::path>> find_cases(const std::filesystem::path& folder,
                                                                    const std::string& filter);

[[nodiscard]] ConformanceCase load_case(const std::filesystem::path& folder);

}  // namespace driftscope
