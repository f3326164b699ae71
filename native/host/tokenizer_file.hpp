// The tokenizer that belongs to a model's file. Clients: the commands tokens and generate.
#pragma once

#include <filesystem>
#include <vector>

#include "native/text/tokenizer.hpp"

namespace driftscope {

/// tokenizer.json beside the model, or above its folder onnx/; empty: neither is there.
[[nodiscard]] std::filesystem::path tokenizer_of(const std::filesystem::path& model);

/// Errors name the file.
[[nodiscard]] Result<Tokenizer> load_tokenizer(const std::filesystem::path& path);

}  // namespace driftscope
