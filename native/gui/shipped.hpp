// The models and samples that come with Driftscope, and which sample fits which model. Client: desktop_host.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "native/host/model_file.hpp"

namespace driftscope {

/// The folder that holds models/ and data/: $DRIFTSCOPE_ASSETS, beside the build, installed, or that
/// of the page. Errors: missing, listing the searched places.
[[nodiscard]] Result<std::filesystem::path> find_assets();

/// Its .onnx files, the one of the demo first.
[[nodiscard]] std::vector<std::filesystem::path> shipped_models(const std::filesystem::path& assets);

/// A shipped data set that the model can read.
struct SampleSet {
  std::string spec;  ///< "idx:IMAGES,LABELS"; empty: none, inputs are seeded
  std::int64_t samples = 0;
};
[[nodiscard]] SampleSet samples_for(const ModelFile& model, const std::filesystem::path& assets);

/// The digit of tools/demo, one that LeNet-5 finds hard.
inline constexpr std::int64_t demo_sample = 121;

}  // namespace driftscope
