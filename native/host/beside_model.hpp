// Files that describe a model. Clients: sample_files, tokenizer_file.
#pragma once

#include <filesystem>

namespace driftscope {

/// The file of this name beside a model's, or above its folder onnx/, where hubs have what describes models.
/// If neither is there, the one beside it.
[[nodiscard]] std::filesystem::path beside_model(const std::filesystem::path& model,
                                                 const std::filesystem::path& name);

}  // namespace driftscope
